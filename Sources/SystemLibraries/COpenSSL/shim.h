#ifndef RIDEPULSE_COPENSSL_H
#define RIDEPULSE_COPENSSL_H

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

/* A macro, which Swift cannot call. */
static inline void SSL_CTX_set_read_ahead_on(SSL_CTX *context) {
  SSL_CTX_set_read_ahead(context, 1);
}

#endif

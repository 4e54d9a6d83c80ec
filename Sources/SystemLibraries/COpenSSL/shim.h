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

// Macros of OpenSSL that Swift does not import, as functions of the same meaning.

static inline long ridepulse_SSL_CTX_set_min_proto_version(SSL_CTX *context, int version) {
  return SSL_CTX_set_min_proto_version(context, version);
}

static inline long ridepulse_SSL_CTX_set_mode(SSL_CTX *context, long mode) {
  return SSL_CTX_set_mode(context, mode);
}

static inline long ridepulse_SSL_CTX_set_read_ahead(SSL_CTX *context, long on) {
  return SSL_CTX_set_read_ahead(context, on);
}

static inline long ridepulse_SSL_CTX_set_session_cache_mode(SSL_CTX *context, long mode) {
  return SSL_CTX_set_session_cache_mode(context, mode);
}

static inline uint64_t ridepulse_SSL_OP_NO_RENEGOTIATION(void) {
  return SSL_OP_NO_RENEGOTIATION;
}

static inline uint64_t ridepulse_SSL_OP_IGNORE_UNEXPECTED_EOF(void) {
  return SSL_OP_IGNORE_UNEXPECTED_EOF;
}

static inline void ridepulse_OPENSSL_free(void *memory) {
  OPENSSL_free(memory);
}

static inline long ridepulse_BIO_get_mem_data(BIO *bio, char **data) {
  return BIO_get_mem_data(bio, data);
}

static inline EVP_PKEY *ridepulse_EVP_EC_gen_P256(void) {
  return EVP_EC_gen("P-256");
}

#endif

#ifndef RIDEPULSE_COPENSSL_H
#define RIDEPULSE_COPENSSL_H

// Without it OpenSSL's macros compile this file's path in, and a build depends on its folder.
#define OPENSSL_NO_FILENAMES

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

// Readers of PEM texts in memory, in the place of OpenSSL's own that open files: those wait for a
// named pipe. None asks for a passphrase: OpenSSL would ask on the terminal, and hang a daemon.

static inline int ridepulse_no_passphrase(char *buffer, int size, int writing, void *context) {
  (void)buffer;
  (void)size;
  (void)writing;
  (void)context;
  return 0;
}

/* Adds all certificates and revocation lists of a text; returns how many, and 0 for a text that
   holds none or a broken one. */
static inline int ridepulse_X509_STORE_add_pem(X509_STORE *store, const void *pem, int size) {
  BIO *bio = BIO_new_mem_buf(pem, size);
  if (bio == NULL) return 0;
  STACK_OF(X509_INFO) *infos = PEM_X509_INFO_read_bio(bio, NULL, ridepulse_no_passphrase, NULL);
  BIO_free(bio);
  int count = 0, failed = infos == NULL;
  for (int i = 0; !failed && i < sk_X509_INFO_num(infos); i++) {
    X509_INFO *info = sk_X509_INFO_value(infos, i);
    if (info->x509 != NULL) failed = X509_STORE_add_cert(store, info->x509) != 1, count++;
    if (!failed && info->crl != NULL) failed = X509_STORE_add_crl(store, info->crl) != 1, count++;
  }
  sk_X509_INFO_pop_free(infos, X509_INFO_free);
  if (!failed && count == 0) ERR_raise(ERR_LIB_PEM, PEM_R_NO_START_LINE);
  return failed ? 0 : count;
}

/* Names the certificates of a text to clients, as those that may sign theirs; returns how many. */
static inline int ridepulse_SSL_CTX_add_client_CAs(SSL_CTX *context, const void *pem, int size) {
  BIO *bio = BIO_new_mem_buf(pem, size);
  if (bio == NULL) return 0;
  int count = 0;
  X509 *certificate;
  while ((certificate = PEM_read_bio_X509(bio, NULL, ridepulse_no_passphrase, NULL)) != NULL) {
    if (SSL_CTX_add_client_CA(context, certificate) == 1) count++;
    X509_free(certificate);
  }
  if (count > 0) ERR_clear_error();
  BIO_free(bio);
  return count;
}

/* What SSL_CTX_use_certificate_chain_file does, for a text. */
static inline int ridepulse_SSL_CTX_use_chain(SSL_CTX *context, const void *pem, int size) {
  BIO *bio = BIO_new_mem_buf(pem, size);
  if (bio == NULL) return 0;
  X509 *certificate = PEM_read_bio_X509_AUX(bio, NULL, ridepulse_no_passphrase, NULL);
  int isUsed = certificate != NULL && SSL_CTX_use_certificate(context, certificate) == 1;
  X509_free(certificate);
  if (isUsed) SSL_CTX_clear_chain_certs(context);
  while (isUsed &&
         (certificate = PEM_read_bio_X509(bio, NULL, ridepulse_no_passphrase, NULL)) != NULL) {
    isUsed = SSL_CTX_add1_chain_cert(context, certificate) == 1;
    X509_free(certificate);
  }
  // The end of the text is reported as an error.
  if (isUsed) ERR_clear_error();
  BIO_free(bio);
  return isUsed;
}

static inline int ridepulse_SSL_CTX_use_key(SSL_CTX *context, const void *pem, int size) {
  BIO *bio = BIO_new_mem_buf(pem, size);
  if (bio == NULL) return 0;
  EVP_PKEY *key = PEM_read_bio_PrivateKey(bio, NULL, ridepulse_no_passphrase, NULL);
  int isUsed = key != NULL && SSL_CTX_use_PrivateKey(context, key) == 1;
  EVP_PKEY_free(key);
  BIO_free(bio);
  return isUsed;
}

static inline EVP_PKEY *ridepulse_EVP_EC_gen_P256(void) {
  return EVP_EC_gen("P-256");
}

static inline EVP_PKEY *ridepulse_EVP_RSA_gen(unsigned bits) {
  return EVP_RSA_gen(bits);
}

#endif

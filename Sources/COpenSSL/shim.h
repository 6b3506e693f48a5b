// The OpenSSL headers that OpenSSLCrypto uses, and as functions those macros that Swift does not import. Everything is
// in OpenSSL 3.0 and not deprecated there. After a change here, touch Sources/OpenSSLCrypto/*.swift: SwiftPM does not
// check the headers of a system library.
#ifndef TANDEM_COPENSSL_SHIM_H
#define TANDEM_COPENSSL_SHIM_H

#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/rand.h>
#include <openssl/srtp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <string.h>
#include <sys/time.h>

#if OPENSSL_VERSION_NUMBER < 0x30000000L
#error "OpenSSL 3.0 or later is needed"
#endif

// Returns 1, or 0 if this build of OpenSSL lacks a version.
static inline int copenssl_set_versions(SSL_CTX *context, int least, int most) {
    return SSL_CTX_set_min_proto_version(context, least) && SSL_CTX_set_max_proto_version(context, most);
}

// Returns 1, or 0 if none of the groups is known.
static inline int copenssl_set_groups(SSL_CTX *context, const char *groups) {
    return (int)SSL_CTX_set1_groups_list(context, groups);
}

// Options of SSL_CTX_set_options.
static inline uint64_t copenssl_op_no_renegotiation(void) { return SSL_OP_NO_RENEGOTIATION; }
static inline uint64_t copenssl_op_no_query_mtu(void) { return SSL_OP_NO_QUERY_MTU; }
static inline uint64_t copenssl_op_no_ticket(void) { return SSL_OP_NO_TICKET; }
static inline uint64_t copenssl_op_no_compression(void) { return SSL_OP_NO_COMPRESSION; }
static inline uint64_t copenssl_op_server_preference(void) { return SSL_OP_CIPHER_SERVER_PREFERENCE; }

static inline int copenssl_utf8_string(void) { return MBSTRING_UTF8; }

static inline void copenssl_disable_session_cache(SSL_CTX *context) {
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
}

// Limits the size of the certificates that a peer may send, and with it the memory for its handshake messages.
static inline void copenssl_limit_certificates(SSL_CTX *context, long bytes) {
    SSL_CTX_set_max_cert_list(context, bytes);
}

// Returns 1, or 0 if the value is too small.
static inline int copenssl_set_link_mtu(SSL *ssl, long bytes) { return DTLS_set_link_mtu(ssl, bytes) > 0; }

// Returns 1 with the time until the timer expires, or 0 if no timer runs.
static inline int copenssl_get_timeout(SSL *ssl, struct timeval *left) { return DTLSv1_get_timeout(ssl, left) == 1; }

// Returns 1 if a flight was sent again, 0 if no timer had expired, -1 if there were too many timeouts.
static inline int copenssl_handle_timeout(SSL *ssl) { return (int)DTLSv1_handle_timeout(ssl); }

// Cookies of HelloVerifyRequest (RFC 6347 4.2.1) have this many bytes. The application data of the SSL points to those that
// are expected; it must point there from the first call of copenssl_listen to the end of the handshake.
enum { COPENSSL_COOKIE_SIZE = 16 };

static inline int copenssl_generate_cookie(SSL *ssl, unsigned char *cookie, unsigned int *size) {
    const void *expected = SSL_get_app_data(ssl);
    if (!expected) return 0;
    memcpy(cookie, expected, COPENSSL_COOKIE_SIZE);
    *size = COPENSSL_COOKIE_SIZE;
    return 1;
}

static inline int copenssl_verify_cookie(SSL *ssl, const unsigned char *cookie, unsigned int size) {
    const void *expected = SSL_get_app_data(ssl);
    return expected && size == COPENSSL_COOKIE_SIZE && CRYPTO_memcmp(cookie, expected, size) == 0;
}

static inline void copenssl_use_cookies(SSL_CTX *context) {
    SSL_CTX_set_cookie_generate_cb(context, copenssl_generate_cookie);
    SSL_CTX_set_cookie_verify_cb(context, copenssl_verify_cookie);
}

static inline void copenssl_set_cookie(SSL *ssl, void *bytes) { SSL_set_app_data(ssl, bytes); }

// Reads a ClientHello. Returns 1 if it has the cookie: then SSL_do_handshake continues. Otherwise a HelloVerifyRequest was
// written, or nothing; no state is kept.
static inline int copenssl_listen(SSL *ssl) {
    BIO_ADDR *client = BIO_ADDR_new();
    if (!client) return -1;
    const int result = DTLSv1_listen(ssl, client);
    BIO_ADDR_free(client);
    return result;
}

// Returns 1 if a client has verified the server's key exchange and sent its own.
static inline int copenssl_client_has_answered(const SSL *ssl) {
    switch (SSL_get_state(ssl)) {
    case TLS_ST_CW_FINISHED: case TLS_ST_CR_SESSION_TICKET: case TLS_ST_CR_CHANGE: case TLS_ST_CR_FINISHED: case TLS_ST_OK:
        return 1;
    default: return 0;
    }
}

// Reading an empty memory BIO means "try again", and not the end.
static inline void copenssl_retry_when_empty(BIO *bio) { BIO_set_mem_eof_return(bio, -1); }

static inline size_t copenssl_pending(BIO *bio) { return BIO_ctrl_pending(bio); }

// A new key pair on P-256, or null.
static inline EVP_PKEY *copenssl_make_p256_key(void) { return EVP_EC_gen("P-256"); }

// Returns 1, or 0 if there is no memory.
static inline int copenssl_set_lifetime(X509 *certificate, long from, long until) {
    return X509_gmtime_adj(X509_getm_notBefore(certificate), from) != NULL
        && X509_gmtime_adj(X509_getm_notAfter(certificate), until) != NULL;
}

// Returns 1, or 0 for a bad tag size.
static inline int copenssl_get_tag(EVP_CIPHER_CTX *context, void *tag, int size) {
    return EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, size, tag) > 0;
}

static inline int copenssl_set_tag(EVP_CIPHER_CTX *context, void *tag, int size) {
    return EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, size, tag) > 0;
}

// A context for HMAC-SHA1 without a key, or null.
static inline EVP_MAC_CTX *copenssl_make_hmac_sha1(void) {
    EVP_MAC *mac = EVP_MAC_fetch(NULL, "HMAC", NULL);
    if (!mac) return NULL;
    // The context keeps its own reference.
    EVP_MAC_CTX *context = EVP_MAC_CTX_new(mac);
    EVP_MAC_free(mac);
    if (!context) return NULL;
    char digest[] = "SHA1";
    const OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0), OSSL_PARAM_construct_end()};
    if (!EVP_MAC_CTX_set_params(context, parameters)) {
        EVP_MAC_CTX_free(context);
        return NULL;
    }
    return context;
}

// The text of the oldest error of this thread in `text`. Clears the thread's errors. Returns 0 if there was none.
static inline int copenssl_take_error(char *text, size_t size) {
    const unsigned long code = ERR_get_error();
    ERR_clear_error();
    if (!code) return 0;
    const char *reason = ERR_reason_error_string(code);
    if (reason) OPENSSL_strlcpy(text, reason, size);
    else ERR_error_string_n(code, text, size);
    return 1;
}

#endif

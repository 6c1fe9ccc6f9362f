#pragma once

// OpenSSL 3, and what Swift cannot import from its headers: macros, and callbacks that fill a caller's memory.

#include <arpa/inet.h>
#include <limits.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#ifndef OPENSSL_NO_ENGINE
#include <openssl/engine.h>
#include <openssl/ui.h>
#endif
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/provider.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// --- A BIO over memory: reads from bytes that somebody else owns, writes into a run of its own that grows ---
//
// OpenSSL's own memory BIO copies the input once more and keeps its largest size for ever.

typedef struct courier_wire {
    const uint8_t *input;  // borrowed or owned, see input_owned
    size_t input_count;
    uint8_t *input_owned;  // to be freed when all of it has been read
    uint8_t *output;
    size_t output_start, output_end, output_capacity;
    size_t output_limit;   // how many bytes of output may wait; 0 is no limit
    int output_exceeded;   // more than that was to be written
    int certificate_requested;
} courier_wire;

static inline int courier_wire_read(BIO *bio, char *buffer, size_t count, size_t *moved) {
    courier_wire *wire = (courier_wire *)BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    if (wire->input_count == 0) {
        BIO_set_retry_read(bio);
        *moved = 0;
        return 0;
    }
    size_t taken = count < wire->input_count ? count : wire->input_count;
    memcpy(buffer, wire->input, taken);
    wire->input += taken;
    wire->input_count -= taken;
    *moved = taken;
    return 1;
}

static inline int courier_wire_write(BIO *bio, const char *buffer, size_t count, size_t *moved) {
    courier_wire *wire = (courier_wire *)BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    if (wire->output_limit > 0 && wire->output_end - wire->output_start + count > wire->output_limit) {
        wire->output_exceeded = 1;
        return 0;
    }
    if (wire->output_capacity - wire->output_end < count) {
        size_t waiting = wire->output_end - wire->output_start;
        if (wire->output_start > 0) {
            memmove(wire->output, wire->output + wire->output_start, waiting);
            wire->output_start = 0;
            wire->output_end = waiting;
        }
        if (wire->output_capacity - waiting < count) {
            size_t capacity = wire->output_capacity * 2 > waiting + count ? wire->output_capacity * 2 : waiting + count;
            uint8_t *grown = (uint8_t *)realloc(wire->output, capacity);
            if (!grown) return 0;
            wire->output = grown;
            wire->output_capacity = capacity;
        }
    }
    memcpy(wire->output + wire->output_end, buffer, count);
    wire->output_end += count;
    *moved = count;
    return 1;
}

static inline long courier_wire_control(BIO *bio, int command, long number, void *pointer) {
    (void)bio, (void)number, (void)pointer;
    return command == BIO_CTRL_FLUSH;
}

static inline BIO_METHOD *courier_wire_method(void) {
    BIO_METHOD *method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "courier wire");
    if (!method) return NULL;
    BIO_meth_set_read_ex(method, courier_wire_read);
    BIO_meth_set_write_ex(method, courier_wire_write);
    BIO_meth_set_ctrl(method, courier_wire_control);
    return method;
}

// Gives `ssl` a new BIO over `wire`, which has to outlive it. 1 on success.
static inline int courier_wire_attach(SSL *ssl, BIO_METHOD *method, courier_wire *wire) {
    BIO *bio = BIO_new(method);
    if (!bio) return 0;
    BIO_set_data(bio, wire);
    BIO_set_init(bio, 1);
    SSL_set_bio(ssl, bio, bio);  // one reference serves both directions
    return 1;
}

// Lends input until all of it is read or courier_wire_keep is called. None may be waiting.
static inline void courier_wire_borrow(courier_wire *wire, const void *bytes, size_t count) {
    free(wire->input_owned);
    wire->input_owned = NULL;
    wire->input = (const uint8_t *)bytes;
    wire->input_count = count;
}

// Copies what is left of lent input, whose memory is about to be used otherwise. 1 on success.
static inline int courier_wire_keep(courier_wire *wire) {
    if (wire->input_count == 0) {
        free(wire->input_owned);
        wire->input_owned = NULL;
        wire->input = NULL;
        return 1;
    }
    if (wire->input_owned) return 1;
    uint8_t *copy = (uint8_t *)malloc(wire->input_count);
    if (!copy) return 0;
    memcpy(copy, wire->input, wire->input_count);
    wire->input_owned = copy;
    wire->input = copy;
    return 1;
}

static inline void courier_wire_remove_output(courier_wire *wire, size_t count, size_t kept_capacity) {
    wire->output_start += count;
    if (wire->output_start < wire->output_end) return;
    wire->output_start = wire->output_end = 0;
    if (wire->output_capacity > kept_capacity) {
        free(wire->output);
        wire->output = NULL;
        wire->output_capacity = 0;
    }
}

static inline void courier_wire_free(courier_wire *wire) {
    free(wire->input_owned);
    free(wire->output);
    memset(wire, 0, sizeof *wire);
}

// --- Configuration ---

// Keeps OpenSSL from freeing its tables when the process exits, while an event loop may still use them. To be called before all
// other functions of OpenSSL.
static inline void courier_ssl_set_up(void) { OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL); }

static inline void courier_ssl_ctx_set_modes(SSL_CTX *context) {
    SSL_CTX_set_mode(
        context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
}

static inline int courier_ssl_ctx_set_minimum(SSL_CTX *context, int version) {
    return SSL_CTX_set_min_proto_version(context, version);
}

static inline int courier_ssl_ctx_set_maximum(SSL_CTX *context, int version) {
    return SSL_CTX_set_max_proto_version(context, version);
}

static inline int courier_ssl_ctx_set_record_size(SSL_CTX *context, long size) {
    return (int)SSL_CTX_set_max_send_fragment(context, size);
}

static inline int courier_ssl_cipher_count(const STACK_OF(SSL_CIPHER) *suites) { return sk_SSL_CIPHER_num(suites); }
static inline const SSL_CIPHER *courier_ssl_cipher_at(const STACK_OF(SSL_CIPHER) *suites, int index) {
    return sk_SSL_CIPHER_value(suites, index);
}

static inline void courier_ssl_ctx_cache_outside(SSL_CTX *context) {
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
}

static inline int courier_ssl_set_server_name(SSL *ssl, const char *name) {
    return (int)SSL_set_tlsext_host_name(ssl, name);
}

static inline void courier_ssl_set_owner(SSL *ssl, void *owner) { SSL_set_app_data(ssl, owner); }
static inline void *courier_ssl_owner(const SSL *ssl) { return SSL_get_app_data(ssl); }

static inline int courier_certificate_requested(SSL *ssl, void *wire) {
    (void)ssl;
    ((courier_wire *)wire)->certificate_requested = 1;
    return 1;
}

// Notes in `wire` that the server has asked for a certificate of ours.
static inline void courier_ssl_note_request(SSL *ssl, courier_wire *wire) {
    SSL_set_cert_cb(ssl, courier_certificate_requested, wire);
}

// Loads the system's file of authorities, or the one that SSL_CERT_FILE names. 1 on success.
static inline int courier_ssl_ctx_load_default_file(SSL_CTX *context) {
    X509_LOOKUP *lookup = X509_STORE_add_lookup(SSL_CTX_get_cert_store(context), X509_LOOKUP_file());
    return lookup && X509_LOOKUP_load_file(lookup, NULL, X509_FILETYPE_DEFAULT) == 1;
}

// --- Pass phrases ---

typedef struct courier_pass_phrase {
    const char *bytes;
    size_t count;
    int was_asked;
} courier_pass_phrase;

static inline int courier_pass_phrase_callback(char *buffer, int size, int writing, void *argument) {
    (void)writing;
    courier_pass_phrase *phrase = (courier_pass_phrase *)argument;
    phrase->was_asked = 1;
    if (phrase->count == 0 || size < 0 || phrase->count > (size_t)size) return -1;
    memcpy(buffer, phrase->bytes, phrase->count);
    return (int)phrase->count;
}

// --- Certificates and keys, from a file or from memory ---

static inline int courier_bio_rewind(BIO *bio) { return (int)BIO_reset(bio); }

static inline EVP_PKEY *courier_read_private_key(BIO *bio, courier_pass_phrase *phrase) {
    return PEM_read_bio_PrivateKey(bio, NULL, courier_pass_phrase_callback, phrase);
}

// An encrypted key in DER.
static inline EVP_PKEY *courier_read_locked_key(BIO *bio, courier_pass_phrase *phrase) {
    return d2i_PKCS8PrivateKey_bio(bio, NULL, courier_pass_phrase_callback, phrase);
}

// Never asks at the terminal for the pass phrase of an encrypted certificate.
static inline X509 *courier_read_certificate(BIO *bio) {
    courier_pass_phrase phrase = {NULL, 0, 0};
    return PEM_read_bio_X509_AUX(bio, NULL, courier_pass_phrase_callback, &phrase);
}

// Whether PEM was read to its end, or is none.
static inline int courier_err_is_end_of_pem(unsigned long code) {
    return ERR_GET_LIB(code) == ERR_LIB_PEM && ERR_GET_REASON(code) == PEM_R_NO_START_LINE;
}

// Whether PKCS#12 could not be opened because of the pass phrase.
static inline int courier_err_is_wrong_pkcs12_phrase(unsigned long code) {
    int reason = ERR_GET_REASON(code);
    if (ERR_GET_LIB(code) == ERR_LIB_EVP) return reason == EVP_R_BAD_DECRYPT;
    return ERR_GET_LIB(code) == ERR_LIB_PKCS12
        && (reason == PKCS12_R_MAC_VERIFY_FAILURE || reason == PKCS12_R_PKCS12_CIPHERFINAL_ERROR);
}

static inline int courier_err_is_pkcs12_mac_absent(unsigned long code) {
    return ERR_GET_LIB(code) == ERR_LIB_PKCS12 && ERR_GET_REASON(code) == PKCS12_R_MAC_ABSENT;
}

// Whether the providers of the library context do not have an algorithm.
static inline int courier_err_is_unsupported_algorithm(unsigned long code) {
    return ERR_GET_LIB(code) == ERR_LIB_EVP
        && (ERR_GET_REASON(code) == ERR_R_UNSUPPORTED || ERR_GET_REASON(code) == EVP_R_UNSUPPORTED_ALGORITHM);
}

// Reads PKCS#12 with the algorithms of a library context; NULL stands for the default one. 1 on success, and the caller
// frees the results. -1 when it is no PKCS#12, 0 when it cannot be opened.
static inline int courier_read_pkcs12(
    BIO *bio, const char *phrase, OSSL_LIB_CTX *library, EVP_PKEY **key, X509 **certificate, STACK_OF(X509) **others) {
    PKCS12 *pkcs12 = PKCS12_init_ex(NID_pkcs7_data, library, NULL);
    if (!pkcs12) return 0;
    if (!d2i_PKCS12_bio(bio, &pkcs12)) {
        PKCS12_free(pkcs12);
        return -1;
    }
    int result = PKCS12_parse(pkcs12, phrase, key, certificate, others);
    PKCS12_free(pkcs12);
    return result;
}

// The same certificate or key, without the library context that it was read with.
static inline X509 *courier_x509_copy(const X509 *certificate) {
    unsigned char *bytes = NULL;
    int count = i2d_X509(certificate, &bytes);
    if (count < 0) return NULL;
    const unsigned char *cursor = bytes;
    X509 *copy = d2i_X509(NULL, &cursor, count);
    OPENSSL_free(bytes);
    return copy;
}

static inline EVP_PKEY *courier_key_copy(const EVP_PKEY *key) {
    unsigned char *bytes = NULL;
    int count = i2d_PrivateKey(key, &bytes);
    if (count < 0) return NULL;
    const unsigned char *cursor = bytes;
    EVP_PKEY *copy = d2i_AutoPrivateKey(NULL, &cursor, count);
    OPENSSL_clear_free(bytes, (size_t)count);
    return copy;
}

static inline void courier_x509_stack_free(STACK_OF(X509) *stack) { sk_X509_pop_free(stack, X509_free); }

// --- Certificates ---

static inline int courier_ssl_ctx_add_chain(SSL_CTX *context, X509 *certificate) {
    return (int)SSL_CTX_add1_chain_cert(context, certificate);
}

static inline int courier_x509_count(const STACK_OF(X509) *stack) { return sk_X509_num(stack); }
static inline X509 *courier_x509_at(const STACK_OF(X509) *stack, int index) { return sk_X509_value(stack, index); }

// The SHA-256 of a certificate's public key with its algorithm (SubjectPublicKeyInfo). 1 on success.
static inline int courier_x509_key_digest(X509 *certificate, uint8_t digest[32]) {
    uint8_t *encoded = NULL;
    int count = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), &encoded);
    if (count <= 0) return 0;
    unsigned int size = 0;
    int made = EVP_Digest(encoded, (size_t)count, digest, &size, EVP_sha256(), NULL);
    OPENSSL_free(encoded);
    return made == 1 && size == 32;
}

// Writes a name as RFC 4514 has it: UTF-8, with control characters escaped.
static inline void courier_x509_print_name(BIO *bio, const X509_NAME *name) {
    X509_NAME_print_ex(bio, name, 0, XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB);
}

// What a memory BIO holds, valid until it is written to or freed.
static inline size_t courier_bio_memory(BIO *bio, const uint8_t **bytes) {
    char *start = NULL;
    long count = BIO_get_mem_data(bio, &start);
    *bytes = (const uint8_t *)start;
    return count > 0 ? (size_t)count : 0;
}

// A time of a certificate in seconds since 1970. 1 on success.
static inline int courier_asn1_seconds(const ASN1_TIME *time, int64_t *seconds) {
    struct tm parts;
    if (!time || ASN1_TIME_to_tm(time, &parts) != 1) return 0;
    *seconds = (int64_t)timegm(&parts);
    return 1;
}

// --- Keys in hardware ---

typedef enum courier_engine_failure {
    COURIER_ENGINE_MISSING = 1,  // OpenSSL has no engines, or the engine is not installed.
    COURIER_ENGINE_BAD_MODULE,   // The PKCS#11 module cannot be loaded.
    COURIER_ENGINE_BAD_KEY       // The module does not give the key.
} courier_engine_failure;

#ifndef OPENSSL_NO_ENGINE
// An instance of its own of OpenSSL's PKCS#11 engine, so that each module has one. NULL, with the failure, if there is none.
static inline ENGINE *courier_pkcs11_engine(const char *module, courier_engine_failure *failure) {
    *failure = COURIER_ENGINE_MISSING;
    OPENSSL_init_crypto(OPENSSL_INIT_ENGINE_DYNAMIC, NULL);
    ENGINE *engine = ENGINE_by_id("dynamic");
    if (!engine) return NULL;
    if (!ENGINE_ctrl_cmd_string(engine, "ID", "pkcs11", 0) || !ENGINE_ctrl_cmd_string(engine, "DIR_LOAD", "2", 0)
        || !ENGINE_ctrl_cmd_string(engine, "DIR_ADD", OPENSSL_info(OPENSSL_INFO_ENGINES_DIR), 0)
        || !ENGINE_ctrl_cmd_string(engine, "LIST_ADD", "0", 0) || !ENGINE_ctrl_cmd_string(engine, "LOAD", NULL, 0)) {
        ENGINE_free(engine);
        return NULL;
    }
    *failure = COURIER_ENGINE_BAD_MODULE;
    // It would write its errors to standard error.
    ENGINE_ctrl_cmd_string(engine, "QUIET", NULL, 0);
    if ((module && !ENGINE_ctrl_cmd_string(engine, "MODULE_PATH", module, 0)) || !ENGINE_init(engine)) {
        ENGINE_free(engine);
        return NULL;
    }
    return engine;
}

// Never asks at the terminal for a PIN. The key needs the engine as long as it is there.
static inline EVP_PKEY *courier_pkcs11_key(ENGINE *engine, const char *uri, const char *pin) {
    if (pin && !ENGINE_ctrl_cmd_string(engine, "PIN", pin, 0)) return NULL;
    return ENGINE_load_private_key(engine, uri, (UI_METHOD *)UI_null(), NULL);
}

// CKR_PIN_INCORRECT of PKCS#11, which engines report under a library number of their own.
static inline int courier_err_is_wrong_pin(unsigned long code) {
    return ERR_GET_LIB(code) >= ERR_LIB_USER && ERR_GET_REASON(code) == 0xA0;
}
#else
static inline int courier_err_is_wrong_pin(unsigned long code) { return code != code; }
typedef struct courier_no_engine ENGINE;
static inline ENGINE *courier_pkcs11_engine(const char *module, courier_engine_failure *failure) {
    (void)module;
    *failure = COURIER_ENGINE_MISSING;
    return NULL;
}
static inline EVP_PKEY *courier_pkcs11_key(ENGINE *engine, const char *uri, const char *pin) {
    (void)engine, (void)uri, (void)pin;
    return NULL;
}
#endif

// What a certificate is for besides its subject; freed by GENERAL_NAMES_free. NULL where it does not say.
static inline GENERAL_NAMES *courier_x509_names(const X509 *certificate) {
    return (GENERAL_NAMES *)X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
}

static inline int courier_names_count(const GENERAL_NAMES *names) { return sk_GENERAL_NAME_num(names); }

// The bytes of a host name (returns GEN_DNS) or of an address (GEN_IPADD); any other kind has none here.
static inline int courier_names_at(const GENERAL_NAMES *names, int index, const uint8_t **bytes, int *count) {
    const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, index);
    const ASN1_STRING *string = NULL;
    if (name && name->type == GEN_DNS) string = name->d.dNSName;
    if (name && name->type == GEN_IPADD) string = name->d.iPAddress;
    *bytes = string ? ASN1_STRING_get0_data(string) : NULL;
    *count = string ? ASN1_STRING_length(string) : 0;
    return name ? name->type : -1;
}

// The usual text of an address of 4 or 16 bytes. 1 on success.
static inline int courier_address_text(const uint8_t *bytes, int count, char text[INET6_ADDRSTRLEN]) {
    int family = count == 4 ? AF_INET : count == 16 ? AF_INET6 : AF_UNSPEC;
    return family != AF_UNSPEC && inet_ntop(family, bytes, text, INET6_ADDRSTRLEN) != NULL;
}

// --- Errors ---

static inline int courier_err_reason(unsigned long code) { return ERR_GET_REASON(code); }
static inline int courier_err_library(unsigned long code) { return ERR_GET_LIB(code); }
static inline const char *courier_err_reason_text(unsigned long code) { return ERR_reason_error_string(code); }

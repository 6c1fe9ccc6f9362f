/// Command lines for which mosquitto's clients and courier must print the same bytes.
///
/// A line is written as in a shell, without the program's name. Single quotes keep a word together, and the text after
/// ` <<< ` is the standard input. Some words are replaced when the test runs:
///
/// - `BROKER`, `STRICT` and `SECURE`: the options for a broker of the test; `NOBODY`: a port without a listener.
/// - `FOLDER`: a path; `LONG`: a long text; words that end with `PORT`: a port.
/// - `PEER`: a word that is different for each program, for example in a client id.
enum CommandLineTable {
    /// Lines with the same standard output, standard error and exit code.
    static let equal: [String] =
        missingValues + badValues + unknownOptions + conflicts + wills + urls + properties + propertyMistakes + topics
        + payloads + publishing + subscribing + formats + requests + debugging + connections + refusals + malformed
        + security

    /// Every option that needs a value, without the value.
    private static let missingValues = [
        "pub -A", "pub --cafile", "pub --capath", "pub --cert", "pub --ciphers", "pub -D", "pub --property", "pub -f",
        "pub --file", "pub -h", "pub --host", "pub -i", "pub --id", "pub -I", "pub --id-prefix", "pub -k",
        "pub --keepalive", "pub --key", "pub --keyform", "pub -L", "pub --url", "pub -m", "pub --message", "pub -M",
        "pub -p", "pub --port", "pub -P", "pub --pw", "pub --proxy", "pub --psk", "pub --psk-identity", "pub -q",
        "pub --qos", "pub --repeat", "pub --repeat-delay", "pub -t", "pub --topic", "pub --tls-alpn",
        "pub --tls-engine", "pub --tls-engine-kpass-sha1", "pub --tls-version", "pub -u", "pub --username",
        "pub --unix", "pub -V", "pub --protocol-version", "pub --will-payload", "pub --will-qos", "pub --will-topic",
        "pub -x", "sub -C", "sub -F", "sub --random-filter", "sub -T", "sub --filter-out", "sub -U",
        "sub --unsubscribe", "sub -W", "rr -e", "rr -F", "rr -W", "rr -m", "rr -f",
        "pub -D publish", "pub -D publish content-type", "pub -D publish user-property k", "sub -t a -q",
        "sub --property connect user-property", "pub -D nosuch",
    ]

    /// Values that an option refuses, and texts that an option reads as numbers.
    private static let badValues = [
        "pub -t a -m x -p 70000", "sub -t a --port -1", "pub BROKER -t p/a -m x -q abc", "pub -t a -m x -q 3",
        "sub -t a --qos -1", "rr -t a -e b -m x -q 9", "pub -t a -m x -k 4", "sub -t a --keepalive 65536",
        "pub -t a -m x -k abc", "pub BROKER -t p/a -m x -k 60s", "sub BROKER -t e/a -k 5 -E", "pub -t a -m x -M 0",
        "sub -t a -M -5", "sub -t a -M many", "pub BROKER -t p/a -m x -M 1 -q 1", "pub -t a -m x -V 9",
        "sub -t a -V mqttv6", "rr -t a -e b -m x --protocol-version ''", "pub -t a -m x -x abc",
        "pub -t a -m x -x 4294967296", "sub -t a -x -2", "sub -t a -x 12s", "pub -t a -m x -x ''",
        "pub -t a -m x --repeat 0", "pub -t a -m x --repeat -3", "pub -t a -m x --repeat many",
        "pub -t a -m x --repeat-delay -1", "pub -t a -m x --repeat-delay -0.1",
        "pub BROKER -t p/a -m x --repeat 2 --repeat-delay none", "sub -t a -C 0", "sub -t a -C -1", "sub -t a -C ten",
        "sub -t a -W 0", "sub -t a -W -3", "rr -t a -e b -m x -W soon", "sub -t a --random-filter 0",
        "sub -t a --random-filter some", "sub -t a --will-topic w --will-qos 3",
        "pub -t a -m x --will-qos -1", "pub BROKER -t p/a -m x --proxy ftp://h", "pub -t a -m x --proxy socks5h://",
        "pub -t a -m x --proxy socks5h://h:70000", "pub -t a -m x --proxy socks5h://h:port",
    ]

    /// Unknown options, and options of another command.
    private static let unknownOptions = [
        "pub -Z", "pub --nosuch", "pub word", "pub -", "pub ''", "sub -Z", "sub word", "rr --nosuch",
        "pub -t a -m x word", "pub -C 1", "pub -E", "pub -F %p", "pub -N", "pub -R", "pub -v", "pub --verbose",
        "pub -W 1", "pub --pretty", "pub -T a", "pub -U a", "pub --random-filter 1", "pub --remove-retained",
        "pub --retained-only", "pub --retain-as-published", "pub -e a", "sub -m x", "sub -f x", "sub -l", "sub -n",
        "sub -s", "sub -r", "sub --repeat 2", "sub --repeat-delay 1", "sub -e a", "rr -C 1", "rr -E", "rr -l",
        "rr -r", "rr -T a", "rr -U a", "rr --repeat 2", "rr --retained-only",
        "pub -t a -h", "pub -Z -q 9", "pub -q 9 -Z",
    ]

    /// Options that contradict each other or lack another one.
    private static let conflicts = [
        "pub", "sub", "rr", "sub BROKER", "pub -m x", "pub -t a", "pub -n", "rr -t a", "rr -e a", "rr -m x",
        "rr -t a -e b", "rr -t a -m x", "rr -e b -m x", "pub -t a -m x -m y", "pub -t a -m x -n", "pub -t a -n -s",
        "pub -t a -s -l", "pub -t a -l -f x", "pub -t a -f x -m y", "pub -t a -n -n",
        "rr -t a -e b -n -m x", "rr -t a -e b -s -f x", "sub -t a -i x -I y", "pub -t a -m x -I y -i x",
        "sub -t a -c", "sub -t a -c -I x", "pub -t a -m x -c", "sub -t a -c -V 5",
        "sub -t a -c -V 5 -I x", "sub -t a -x -1 -V 5", "sub -t a -x 4294967295 -V 5", "sub -t a -x ∞ -V mqttv5",
        "sub -t a -R --retained-only", "sub -R --retained-only", "pub -t a -m x --cert c",
        "pub -t a -m x --key k", "sub -t a --keyform pem", "sub -t a --keyform nosuch",
        "pub -t a -m x --keyform engine",
        "pub -t a -m x --psk 0a", "sub -t a --psk 0a --cafile c", "sub -t a --psk 0a --psk-identity i --capath c",
        "pub -t a -m x --tls-engine-kpass-sha1 00", "sub -t a --tls-engine-kpass-sha1 00 --tls-engine e",
        "pub -t a -m x --cert c --keyform pem", "sub -c", "pub -c", "rr -c -t a -e b -m x",
    ]

    private static let wills = [
        "pub -t a -m x --will-payload x", "sub -t a --will-retain", "rr -t a -e b -m x --will-payload x --will-retain",
        "pub BROKER -t p/a -m x --will-qos 2", "sub -t a --will-topic a/+", "sub -t a --will-topic '#'",
        "pub -t a -m x --will-topic a/#/b --will-payload x",
        "pub BROKER -t p/a -m x -q 1 --will-topic w --will-payload gone --will-qos 1 --will-retain",
        "sub BROKER -t e/a -E --will-topic w",
        "pub BROKER -t p/a -m x -V 5 --will-topic w -D will will-delay-interval 5",
        "pub BROKER -t p/a -m x -D will content-type text/plain", "pub -t a -m x --will-retain --will-qos 1",
    ]

    private static let urls = [
        "pub -L ftp://h/t -m x", "pub -L '' -m x", "sub -L h/t", "pub -L mqtt://h -m x", "sub --url mqtts://h",
        "pub -L mqtt://h/a/+ -m x", "sub -L mqtt://h/a/#/b", "rr -L mqtt://h/# -e b -m x",
        "pub -L mqtt://127.0.0.1:PORT/w/url -m x", "pub -L MQTT://127.0.0.1:PORT/w/url -m x -q 1",
        "pub -L mqtt://ada:secret@127.0.0.1:PORT/w/url -m x", "pub -L mqtt://ada@127.0.0.1:PORT/w/x -m x",
        "sub -L mqtt://127.0.0.1:PORT/s/one -C 1 -v", "sub -L mqtt://127.0.0.1:PORT/s/one -t s/two -C 2 -v",
        "pub -L mqtt://127.0.0.1:CLOSEDPORT/w/x -m x", "pub -L mqtt://127.0.0.1:PORT/w", "sub -L mqtt:/h/t",
    ]

    /// `-D` with valid properties.
    private static let properties = [
        "pub BROKER -t p/d -m x -D publish content-type text/plain -D publish response-topic r",
        "pub BROKER -t p/d -m x -D publish correlation-data 'c d' -D publish payload-format-indicator 1",
        "pub BROKER -t p/d -m x -D publish user-property k v -D publish user-property k w -q 2",
        "pub BROKER -t p/d -m x -q 1 -D publish message-expiry-interval 4294967295",
        "pub BROKER -t p/d -m x -D PUBLISH content-type x", "pub BROKER -t p/d -m x --property publish topic-alias 1",
        "pub BROKER -t p/d -m x -D publish topic-alias 3 --repeat 3 -q 1",
        "pub BROKER -t p/d -l -D publish topic-alias 1 <<< 'a\nb\n'",
        "pub BROKER -t p/d -m x -D connect session-expiry-interval 60 -i d1PEER -c",
        "pub BROKER -t p/d -m x -D connect receive-maximum 5 -D connect maximum-packet-size 1000",
        "sub BROKER -t s/one -C 1 -D connect topic-alias-maximum 5",
        "sub BROKER -t s/one -C 1 -D connect request-problem-information 0",
        "sub BROKER -t s/one -C 1 -D connect request-problem-information 1 -D connect request-response-information 1",
        "sub BROKER -t s/one -C 1 -D connect user-property a 1 -D connect user-property a 2 -D connect user-property a 2",
        "sub BROKER -t s/one -C 1 -D subscribe subscription-identifier 7 -F '%S %p'",
        "sub BROKER -t s/one -C 1 -D subscribe subscription-identifier 268435455 -F '[%12S|%-12S|%012S]'",
        "sub BROKER -t s/one -t s/two -C 2 -D subscribe subscription-identifier 1 -D subscribe user-property k v -v",
        "sub BROKER -U s/one -t s/never -E -D unsubscribe user-property k v",
        "sub BROKER -t s/one -C 1 -D disconnect reason-string done -D disconnect user-property k v",
        "sub BROKER -t s/one -C 1 -i d2PEER -c -D connect session-expiry-interval 60 -D disconnect session-expiry-interval 0",
        "pub BROKER -t p/d -m x -D disconnect reason-string done",
        "rr BROKER -t echo/1 -e echo/1 -m x -D subscribe user-property k v",
        "rr BROKER -t echo/2 -e echo/2 -m x -D subscribe subscription-identifier 9 -F '%S %p'",
        "pub BROKER -t p/d -m x --will-topic w -D will user-property k v -D will content-type t -D will message-expiry-interval 9",
        "pub BROKER -t p/d -m x -D publish user-property '' ''", "pub BROKER -t p/d -m x -D publish content-type ''",
    ]

    /// `-D` with wrong packets, names and values, and with properties of another packet.
    private static let propertyMistakes = [
        "sub -t a -D foo content-type x", "sub -t a -D publish nosuch 1", "sub -t a -D '' content-type x",
        "sub -t a -D connect content-type x", "pub -t a -m x -D publish will-delay-interval 1",
        "sub -t a -D connect receive-maximum 70000", "sub -t a -D connect receive-maximum -1",
        "pub -t a -m x -D publish payload-format-indicator 256", "pub -t a -m x -D publish message-expiry-interval -1",
        "pub -t a -m x -D publish message-expiry-interval 4294967296", "pub -t a -m x -D publish topic-alias 65536",
        "pub -t a -m x -D publish subscription-identifier 1", "sub -t a -D subscribe subscription-identifier -1",
        "sub -t a -D subscribe subscription-identifier 268435456", "sub -t a -D subscribe reason-string x",
        "sub -t a -D unsubscribe subscription-identifier 1", "sub -t a -D auth authentication-method x",
        "sub -t a -D auth reason-string x", "sub -t a -D puback reason-string x",
        "sub -t a -D pubrec user-property k v",
        "sub -t a -D pubrel reason-string x", "sub -t a -D pubcomp reason-string x",
        "sub -t a -D suback reason-string x",
        "sub -t a -D unsuback user-property k v", "sub -t a -D puback content-type x",
        "sub -t a -D connect assigned-client-identifier x", "sub -t a -D connect server-keep-alive 5",
        "sub -t a -D connect maximum-qos 1",
        "sub -t a -D connect receive-maximum 1 -D connect receive-maximum 2",
        "pub -t a -m x -D publish content-type a -D publish content-type b",
        "sub -t a -D subscribe subscription-identifier 1 -D subscribe subscription-identifier 2",
        "pub -t a -m x -D disconnect reason-string a -D disconnect reason-string b",
        "pub -t a -m x --will-topic w -D will content-type a -D will content-type b",
        "pub -t a -m x -D connect request-problem-information 2",
        "pub -t a -m x -D connect request-response-information 256",
        "pub -t a -m x -D connect receive-maximum 0", "pub -t a -m x -D connect maximum-packet-size 0",
        "pub NOBODY -t a -m x -D publish payload-format-indicator 2", "pub -t a -m x -D publish topic-alias 0",
        "sub -t a -D disconnect session-expiry-interval 4294967296",
        "pub -t a -m x --quiet -D connect receive-maximum 1 -D connect receive-maximum 2",
        "rr -t a -e b -m x -D publish response-topic c", "rr -t a -e b -m x -D publish response-topic c --quiet",
        "pub NOBODY -t a -m x -D publish response-topic a/+",
    ]

    private static let topics = [
        "pub -t a/+ -m x", "pub -t '#' -m x", "pub -t a/#/b -m x", "pub -t '+' -m x", "sub -t a/#/b", "sub -t a+",
        "sub -t a#", "sub -t '##'", "sub -t a/+b/c", "sub -t '#/a'", "sub BROKER -t 'e/+/#' -E", "sub BROKER -t + -E",
        "sub BROKER -t /e/ -E", "sub BROKER -t '$SYS/nosuch' -E", "sub -t a -T '#/a'", "sub -t a -T a+", "sub -U a+",
        "sub -U a/#/b", "sub -t a -U '#b'", "rr -t a/+ -e b -m x", "rr -t a -e b/# -m x", "rr -t a -e + -m x",
        "sub BROKER -t '$share/g/a' -E", "sub BROKER -t '$share/g/a' -E -V 5", "pub BROKER -t / -m x",
        "pub BROKER -t a//b -m x -q 1", "pub BROKER -t 'p/ ' -m x", "pub BROKER -t 'grün/😀' -m x",
        "sub BROKER -t 'grün/+' -E",
        "sub BROKER -U s/one -t s/never -E",
        "pub BROKER -t x -t p/1 -m x -d -i last",

        "sub -t '$share/g/a+'",
        "pub BROKER -t '$SYS/x' -m x -q 1",
    ]

    private static let payloads = [
        "pub -t a -f /nowhere", "pub -t a -f FOLDER/nosuch --quiet", "pub -t a -s",
        "pub -t a -s --quiet", "pub -f /nowhere", "pub BROKER -t p/a -f /dev/null",
        "pub BROKER -t p/a -f FOLDER/payload", "pub BROKER -t p/a -s <<< 'all of\nit\n'", "pub -s <<< 'x'",
        "pub BROKER -t p/a -l <<< 'one\n\ntwo\nthree'", "pub BROKER -t p/a -l -q 2 <<< 'a\r\nb'",
        "pub BROKER -t p/a -l",
        "pub BROKER -t p/a -m ''", "pub BROKER -t p/a -m 'a\u{1}\n'", "pub BROKER -t p/a -n", "pub -l",
    ]

    /// Every option of `pub`, in lines that succeed.
    private static let publishing = [
        "pub BROKER -t p/a -m x", "pub BROKER --topic p/a --message x --qos 1", "pub BROKER -t p/a -m x -q 2",
        "pub BROKER -t p/a -n -r -q 1", "pub BROKER -t p/a --null-message --retain",
        "pub BROKER -t p/a --file FOLDER/payload",
        "pub BROKER -t p/a --stdin-file <<< 'x'", "pub BROKER -t p/a --stdin-line -q 1 <<< 'a\nb\n'",
        "pub BROKER -t p/a -m x --repeat 3 -q 1", "pub BROKER -t p/a -m x --repeat 2 --repeat-delay 0.1",
        "pub BROKER -t p/a -n --repeat 2", "pub BROKER -t p/a -m x -V mqttv31", "pub BROKER -t p/a -m x -V 31 -q 2",
        "pub BROKER -t p/a -m x -V mqttv311", "pub BROKER -t p/a -m x -V 311", "pub BROKER -t p/a -m x -V mqttv5 -q 1",
        "pub BROKER -t p/a -m x --protocol-version 5", "pub BROKER -t p/a -m x -i me",
        "pub BROKER -t p/a -m x --id me2PEER -c",
        "pub BROKER -t p/a -m x -I me-", "pub BROKER -t p/a -m x --id-prefix me-",
        "pub BROKER -t p/a -m x -i me3PEER --disable-clean-session",
        "pub BROKER -t p/a -m x -u ada -P secret", "pub BROKER -t p/a -m x --username ada --pw secret",
        "pub BROKER -t p/a -m x -u ada",
        "pub BROKER -t p/a -m x --nodelay", "pub BROKER -t p/a -m x --quiet", "pub BROKER -t p/a -m x -k 30 -M 5",
        "pub --unix FOLDER/broker.sock -t p/a -m x -q 1", "pub --unix FOLDER/nosuch.sock -t a -m x",
        "pub BROKER -t p/a -m x -i s1PEER -c -x 60 -V 5", "pub BROKER -t p/a -m x -x 0x10 -i s2PEER -c -V 5",
        "pub BROKER -t p/a -m x -x 0 -V 5",
        "pub BROKER -t p/a -m x -x -1 -i s3PEER -c -V 5", "pub BROKER -t p/a -m x -x 60",
        "pub BROKER -t p/a -m x -P secret -V 5",
        "pub BROKER -t p/a -m x -i '' -q 1", "pub BROKER -t p/a -m x -I '' -q 1", "pub BROKER -t p/a -m x -u '' -q 1",
        "pub BROKER -t p/a -m x -P ''",
        "pub BROKER -t p/a -m x -P secret", "pub BROKER -t p/a -m x --will-topic w --will-payload ''",
        "sub -t a -c -V 5 -x 60", "pub -t a -m x -c -V 5 -x 60", "rr -t a -e b -m x -c -x 60",
        "pub BROKER -t p/a -m x -c -I p-PEER -x 60 -V 5",
        "pub BROKER -t p/a -m x -c -i ''", "pub --help", "sub --help", "rr --help", "pub --help word",
        "pub -t a --help -Z", "pub -Z --help",
        "sub -t a+ --help", "pub BROKER -t p/a -m x -L mqtt://h:70000/t",
        "pub -L mqtt:///t -m x", "pub -L mqtt://ada:@127.0.0.1:PORT/p/t -m x",
        "pub -L mqtt://:secret@127.0.0.1:PORT/p/t -m x -V 5", "pub -L mqtt://@127.0.0.1:PORT/p/t -m x",
    ]

    /// Every option of `sub`, on retained messages.
    private static let subscribing = [
        "sub BROKER -t s/one -C 1", "sub BROKER --topic s/one -C 1 --verbose", "sub BROKER -t s/one -t s/two -C 2 -v",
        "sub BROKER -t s/one -C 1 -N", "sub BROKER -t s/empty -t s/one -C 1 -v", "sub BROKER -t s/one -C 1 -q 1",
        "sub BROKER -t s/one -C 1 -q 2 -V 5", "sub BROKER -t s/one -C 1 -V mqttv31",
        "sub BROKER -t s/one -C 1 -V 31 -q 2 -v",
        "sub BROKER -t 's/+' -T s/two -T 's/b/#' -T 's/json' -T s/text -T s/five -C 1 -v",
        "sub BROKER -t s/one -t s/two --filter-out s/one -C 1",
        "sub BROKER -t s/never -E", "sub BROKER -t s/none -E -q 2", "sub BROKER -t s/none -W 1",
        "sub BROKER -t s/none -W 1 --quiet",
        "sub BROKER -t s/one -R -W 1", "sub BROKER -t s/never -R -E -V 5", "sub BROKER -t s/one -v -W 3",
        "sub BROKER -t s/one --retained-only -C 1", "sub BROKER -t s/one --retained-only -W 3",
        "sub BROKER -t s/one --retain-as-published -V 5 -C 1 -F '%r %p'",
        "sub BROKER -t r/PEER --remove-retained -W 3 -F '%p %r'", "sub BROKER -t s/none --remove-retained -W 1",
        "sub BROKER -t s/none -i u1 -U s/one -W 1", "sub BROKER --unsubscribe s/one -t s/two -C 1",
        "sub BROKER -t s/one -C 1 -i c1PEER -c", "sub BROKER -t s/one -C 1 -c -i c2PEER -V 5 -x 60",
        "sub BROKER -t s/one -C 1 -I pre-",
        "sub BROKER -t s/one -C 1 -u ada -P secret", "sub BROKER -t s/one -C 1 --nodelay -k 10 -M 3 --quiet",
        "sub --unix FOLDER/broker.sock -t s/one -C 1", "sub BROKER -t s/one -C 1 --will-topic w --will-payload x",
    ]

    /// `-F` with valid and invalid formats.
    private static let formats = [
        "sub -t a -F %z", "sub -t a -F %", "sub -t a -F '%-'", "sub -t a -F '%05'", "sub -t a -F '%.'",
        "sub -t a -F '%.3'",
        "sub -t a -F '\\q'", "sub -t a -F '\\'", "sub -t a -F @", "rr -t a -e b -m x -F %Q", "sub -t a -F '%5.2'",
        "sub BROKER -t s/one -C 1 -F '%t|%p|%q|%r|%l|%m|%x|%X'",
        "sub BROKER -t s/one -C 1 -F '%10t|%-10t|%.2t|%5p|%-5p|%05p|%2p|%5l|%05l|%%|@@|\\t|\\\\'",
        "sub BROKER -t s/one -C 1 -F '\\0\\a\\e\\n\\r\\t\\v'", "sub BROKER -t s/one -C 1 -F ''",
        "sub BROKER -t s/one -C 1 -F '%p' -N", "sub BROKER -t s/one -C 1 -F '%p' -v",
        "sub BROKER -t s/five -V 5 -C 1 -F '%C|%D|%F|%P|%R|%E|%A|%S'",
        "sub BROKER -t s/five -C 1 -F '%C|%D|%F|%P|%R|%E|%A|%S'",
        "sub BROKER -t s/five -V 5 -C 1 -F '%12C|%-12C|%.3C|%5F|%-5F|%05F|%9R|%.1R'",
        "sub BROKER -t s/one -V 5 -C 1 -F '%5C|%5D|%5E|%5F|%5P|%5R|%5A|%5S|%05E|%-5E|'",
        "sub BROKER -t s/one -C 1 -F '@Y' -W 5 -R -T s/one -E", "sub BROKER -t s/json -C 1 --pretty",
        "sub BROKER -t s/text -C 1 -F %J", "sub BROKER -t s/text -C 1 -F %J --quiet",
    ]

    private static let requests = [
        "rr BROKER -t echo/3 -e echo/3 -m x", "rr BROKER -t echo/4 -e echo/4 -m x -q 1 -v",
        "rr BROKER -t echo/5 -e echo/5 -n -F '%t|%p|%R'",
        "rr BROKER -t echo/6 -e echo/6 -m x -D publish correlation-data 7 -F '%D %p'",
        "rr BROKER -t echo/7 -e echo/7 -m x -V 311 -N",
        "rr BROKER -t echo/a -e echo/a -m x -V 31",
        "rr BROKER -t nobody -e answer -m x -W 1", "rr BROKER -t nobody -e answer -m x -W 1 --quiet",
        "rr BROKER -t nobody -e s/one -m x -v",
        "rr BROKER -t echo/b -e echo/b -m x -i r1PEER -c", "rr NOBODY -t a -e b -m x",
        "rr BROKER -t echo/c -e echo/c -m x --pretty --retain-as-published",
    ]

    /// `-d`, in lines whose packets have a fixed order.
    private static let debugging = [
        "pub BROKER -t p/a -m x -d", "pub BROKER -t p/a -m x -d -i debug1",
        "pub BROKER -t p/a -m x -q 1 --debug -i debug2",
        "pub BROKER -t p/a -m x -q 2 -d -i debug3", "pub BROKER -t p/a -m x -q 2 -d -i debug4 -V 5",
        "pub BROKER -t p/a -m x -r -d -i debug5 -V 31",
        "pub BROKER -t p/a -n -d -i debug6 --quiet", "sub BROKER -t s/one -C 1 -d -i debug7",
        "sub BROKER -t s/one -C 1 -q 1 -d -i debug8",
        "sub BROKER -t s/never -t s/none -E -d -i debug9", "sub BROKER -t s/never -E -V 5 -R -d -i debuga",
        "rr BROKER -t nobody -e answer -m x -W 1 -d -i debugc",
    ]

    private static let connections = [
        "pub NOBODY -A 127.0.0.1 -t a -m x", "pub NOBODY -t a -m x", "sub NOBODY -t a",
        "pub NOBODY -t a -m x -q 1 -V 5",
        "pub NOBODY -t a -l", "pub NOBODY -t a -m x --quiet", "sub -h name.invalid -t a",
        "pub --host name.invalid -t a -m x", "rr -h name.invalid -t a -e b -m x", "sub -h name.invalid -t a --quiet",
        "sub --unix FOLDER/nosuch.sock -t a", "sub NOBODY -t a -W 1", "pub -h '' -t a -m x",
        "pub NOBODY -t a -m x -d -i refused", "pub NOBODY -t a -m x --cafile FOLDER/ca.pem",
        "pub NOBODY -t a -m x --psk 0a --psk-identity i",
    ]

    /// A broker that refuses connections, subscriptions and messages.
    private static let refusals = [
        "pub STRICT -t a -m x", "pub STRICT -t a -m x -V 31", "pub STRICT -t a -l", "sub STRICT -t a",
        "sub STRICT -t a -V 5", "sub STRICT -t a -u ada -P wrong", "sub STRICT -t a -u ada -P wrong --quiet",
        "rr STRICT -t a -e b -m x",
        "sub STRICT -t a -u ada -P wrong -V 5", "pub STRICT -t open -m x -u ada -P secret -q 1",
        "pub STRICT -t shut -m x -u ada -P secret -q 1",
        "pub STRICT -t shut -m x -u ada -P secret -q 1 -V 5", "pub STRICT -t shut -m x -u ada -P secret -q 2 -V 5",
        "pub STRICT -t shut -m x -u ada -P secret -q 1 -V 5 --quiet",
        "pub STRICT -t shut -l -u ada -P secret -q 1 -V 5 <<< 'a\n'",
        "pub -L mqtt://ada:secret@127.0.0.1:STRICTPORT/open -m x -q 1",
        "pub -L mqtt://ada:wrong@127.0.0.1:STRICTPORT/open -m x -q 1",
    ]

    /// Texts for which brokers close the connection, and an UNSUBSCRIBE of a filter without a subscription.
    private static let malformed = [
        "sub BROKER -t s/none -U s/one -d -c -i debugb -W 3", "pub -t LONG -m x", "sub -t LONG", "sub -t a -T LONG",
        "sub -t a -U LONG", "rr -t a -e LONG -m x", "pub -t a -m x --will-topic LONG",
        "pub -t 'a\u{1}' -m x", "pub -t 'a\nb' -m x", "sub -t 'a\u{7F}'", "sub -t 'a\u{85}'", "sub -t a -T 'a\t'",
        "sub -t a -U 'a\r'", "rr -t 'a\u{1F}' -e b -m x",
        "rr -t a -e 'b\u{2}' -m x", "pub -t 'a\u{9F}' -m x", "pub -t a -m x --will-topic 'w\u{9F}'",
        "pub -L 'mqtt://h/a\u{1}' -m x",
        "pub -t a -m x -D publish content-type 'a\u{1}'", "pub -t a -m x -D publish user-property 'a\u{1}' x",
        "pub -t a -m x -D publish response-topic 'a\u{1}'",
        "pub NOBODY -t a -m x -u 'a\u{1}'",
        "pub -t a -m x --will-topic w -D will content-type 'a\u{1}'",
    ]

    /// TLS options, valid and invalid.
    private static let security = [
        "pub SECURE -t p/a -m x -q 1 --cafile FOLDER/ca.pem",
        "sub SECURE -t a -E --cafile FOLDER/ca.pem --tls-version tlsv1.2",
        "sub SECURE -t a -E --cafile FOLDER/ca.pem --tls-version tlsv1.3",
        "pub SECURE -t p/a -m x --cafile FOLDER/ca.pem --insecure",
        "pub SECURE -t p/a -m x --cafile FOLDER/ca.pem --ciphers ECDHE-RSA-AES256-GCM-SHA384 --tls-version tlsv1.2",
        "pub SECURE -t p/a -m x --cafile FOLDER/ca.pem --ciphers ECDHE+AESGCM",
        "pub SECURE -t p/a -m x --cafile FOLDER/ca.pem --cert FOLDER/client.pem --key FOLDER/client.key --keyform pem",
        "pub SECURE -t p/a -m x --cafile FOLDER/ca.pem --tls-alpn mqtt",
        "pub SECURE -t p/a -m x --cafile FOLDER/nosuch.pem",
        "pub SECURE -t p/a -m x --cafile FOLDER/nosuch.pem --quiet",
        "pub SECURE -t p/a -m x --cafile FOLDER/ca.pem --tls-version tlsv9",
        "pub SECURE -t p/a -m x --cafile FOLDER/ca.pem --tls-version tlsv9 --quiet",
        "pub SECURE -t p/a -m x --cafile FOLDER/ca.pem --cert FOLDER/nosuch --key FOLDER/nosuch",
        "pub SECURE -t p/a -m x --cafile FOLDER/ca.pem --cert FOLDER/client.pem --key FOLDER/client.key --keyform nosuch",
        "pub SECURE -t p/a -m x --cafile FOLDER/ca.pem --cert FOLDER/client.pem --key FOLDER/nosuch",
        "pub BROKER -t p/a -m x --tls-version tlsv9",
    ]

    /// A difference between courier and mosquitto's clients.
    struct Difference: Sendable {
        /// Command lines that show the difference. The documentation lists the first line.
        let lines: [String]
        /// Why the difference remains.
        let reason: String

        init(_ lines: [String], _ reason: String) {
            self.lines = lines
            self.reason = reason
        }

        init(_ line: String, _ reason: String) { self.init([line], reason) }
    }

    /// Lines with a different standard output, standard error or exit code, with the reason.
    ///
    /// docs/reference/command-line.md contains the same list.
    static let differences: [Difference] = [
        Difference("sub --version", "The version is our own."),
        Difference(
            "pub BROKER -t p/a -m x -rq1",
            "Short options may be combined, and a value may follow its letter without a space."),
        Difference(
            "sub BROKER -t s/json -C 1 -F %j",
            "Options and formats that mosquitto 2.1 changed, such as JSON, work as in mosquitto 2.1."),
        Difference(
            "pub STRICT -t a -m x -V 5",
            "The second line names the refusal, where mosquitto_pub 2.0.11 names a protocol error."),
        Difference("pub NOBODY -t a -m x --tls-engine e", "Only the engine pkcs11 is supported."),
        Difference("pub BROKER -t p/a -m x --insecure", "An option of TLS without TLS would protect nothing."),
        Difference(
            ["pub SECURE -t p/a -m x --cafile FOLDER/payload", "pub NOBODY -t a -m x -i 'a\u{1}'"],
            "A line names the reason where mosquitto's clients name none."),
        Difference(
            "pub BROKER -t p/a -m x -V 5 -i expiring -x 60",
            "The library keeps a session only if the next connection continues it, so -x needs -c."),
    ]
}

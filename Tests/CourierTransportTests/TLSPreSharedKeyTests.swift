import COpenSSL
import Foundation
import TestSupport
import Testing

@testable import CourierTransport

/// Pre-shared keys: bad configurations are refused at once, and certificates are still checked.
@Suite struct TLSPreSharedKeyTests {
    private static func error(_ change: (inout TLSClientConfiguration) -> Void) -> TransportError? {
        var configuration = TLSClientConfiguration()
        change(&configuration)
        do throws(TransportError) {
            _ = try TLSContext(client: configuration)
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [
        ("", 16, "identity"), (String(repeating: "i", count: 129), 16, "129 bytes"), ("a\u{0}b", 16, "U+0000"),
        ("meter", 0, "this key has 0"), ("meter", 257, "this key has 257"),
    ])
    func `a pre-shared key or identity with an invalid length or character is refused`(
        identity: String, byteCount: Int, words: String
    ) throws {
        let error = Self.error {
            $0.preSharedKey = TLSPreSharedKey(identity: identity, key: Array(repeating: 0xEE, count: byteCount))
        }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.message.contains(words) == true, "\(String(describing: error))")
        #expect(error?.message.contains("238") == false)
    }

    @Test func `a pre-shared key of the maximum length is accepted, and a pre-shared key with pins is refused`() throws
    {
        let key = TLSPreSharedKey(
            identity: String(repeating: "i", count: 128), key: Array(repeating: 1, count: 256))
        #expect(Self.error { $0.preSharedKey = key } == nil)
        let pin = try TLSPin(sha256: Array(repeating: 0, count: 32))
        let error = Self.error {
            $0.preSharedKey = key
            $0.pins = [pin]
        }
        #expect(error?.code == .invalidConfiguration)
    }

    @Test(arguments: ["", "0", "abc", "0g", "00 11"]) func `an invalid hexadecimal key is refused`(hex: String) {
        #expect(throws: TransportError.self) { try TLSPreSharedKey(identity: "meter", hex: hex) }
    }

    @Test func `printing or dumping a configuration does not show the pre-shared key`() throws {
        let key = try TLSPreSharedKey(identity: "meter", hex: "aBCd0102")
        #expect(key == TLSPreSharedKey(identity: "meter", key: [0xAB, 0xCD, 1, 2]))
        var configuration = TLSClientConfiguration()
        configuration.preSharedKey = key
        var text = "\(key) \(String(reflecting: key)) \(configuration)"
        dump(configuration, to: &text)
        #expect(text.contains("meter"))
        #expect(!text.contains("171") && !text.lowercased().contains("abcd"))
    }

    @Test(arguments: [true, false])
    func `with a pre-shared key, a certificate that the peer sends is still verified`(isTrusted: Bool) async throws {
        let certificates = try await Certificates.shared
        let loop = try EventLoop()
        let echo = Echo()
        let listener = try ChannelListener.listen(
            tls: TLSContext(server: TLSServerConfiguration(identity: certificates.server)), loop: loop
        ) { _ in echo }
        var configuration = TLSClientConfiguration()
        configuration.preSharedKey = TLSPreSharedKey(identity: "meter", key: Array(repeating: 1, count: 16))
        if isTrusted { configuration.trust = .authoritiesFile(certificates.authorityFile) }
        let recorder = Recorder()
        let channel = ByteChannel.connect(
            to: .tcp(host: "localhost", port: listener.port), tls: try TLSContext(client: configuration), on: loop,
            handler: recorder)
        if isTrusted {
            channel.send([1])
            #expect(try await recorder.bytes(1) == [1])
        } else {
            #expect(try await recorder.failure().code == .tlsUnknownAuthority)
        }
        await loop.shutdown()
    }
}

import Foundation
import Glibc
import TestSupport
import Testing

@testable import CourierTransport

@Suite struct TLSKeyLogTests {
    private func connect(_ keyLogFile: String?, toTLS12: Bool = false) async throws {
        let loop = try EventLoop()
        var configuration = try await Certificates.shared.client
        configuration.keyLogFile = keyLogFile
        configuration.resumesSessions = false
        let client = try TLSContext(client: configuration)
        if toTLS12 { client.limitForTests(toTLS12: true) }
        let server = TLSServerConfiguration(identity: try await Certificates.shared.identity("server"))
        let listener = try ChannelListener.listen(tls: try TLSContext(server: server), loop: loop) { _ in Echo() }
        let recorder = Recorder()
        let channel = ByteChannel.connect(
            to: .tcp(host: "localhost", port: listener.port), tls: client, on: loop, handler: recorder)
        channel.send([1])
        #expect(try await recorder.bytes(1) == [1])
        await loop.shutdown()
    }

    private func refusal(_ path: String) -> String? {
        do throws(TransportError) {
            _ = try TLSKeyLog(appendingTo: path)
            return nil
        } catch {
            return error.code == .invalidConfiguration ? error.message : "\(error)"
        }
    }

    @Test func `the secrets of each connection are appended to a file that only its owner can read`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/keys"
        try await connect(path)
        let first = try String(contentsOfFile: path, encoding: .utf8)
        #expect(first.contains("CLIENT_TRAFFIC_SECRET_0 ") && first.hasSuffix("\n"))
        try await connect(path, toTLS12: true)
        let both = try String(contentsOfFile: path, encoding: .utf8)
        #expect(both.hasPrefix(first))
        let added = both.dropFirst(first.count).split(separator: "\n")
        #expect(added.count == 1 && added[0].hasPrefix("CLIENT_RANDOM "))
        // The line has three parts: the label, and in hexadecimal digits the client's random number and the secret.
        #expect(added.first?.split(separator: " ").map(\.count) == [13, 64, 96])
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
    }

    @Test func `a TLS context without keyLogFile has no key log`() async throws {
        let context = try TLSContext(client: try await Certificates.shared.client)
        #expect(context.keyLog == nil)
        #expect(!TLSKeyLog.observes(context.context))
    }

    @Test func `a link, a pipe, a folder and a file that other users can read are refused as key log`() throws {
        let folder = try TemporaryFolder()
        let target = folder.path + "/target"
        try Data().write(to: URL(filePath: target))
        #expect(chmod(target, 0o600) == 0)
        #expect(symlink(target, folder.path + "/link") == 0)
        #expect(refusal(folder.path + "/link")?.contains("symbolic link") == true)
        #expect(refusal(target) == nil)
        #expect(chmod(target, 0o640) == 0)
        #expect(refusal(target)?.contains("other users") == true)
        var status = stat()
        #expect(stat(target, &status) == 0 && status.st_mode & 0o777 == 0o640 && status.st_size == 0)
        #expect(mkfifo(folder.path + "/pipe", 0o600) == 0)
        #expect(refusal(folder.path + "/pipe") != nil)
        #expect(refusal(folder.path) != nil)
        #expect(refusal(folder.path + "/missing/keys")?.contains("No such file") == true)
    }
}

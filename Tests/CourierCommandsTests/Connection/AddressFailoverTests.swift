import CourierTesting
import CourierTransport
import Foundation
import TestSupport
import Testing

/// A broker whose host name has two addresses. A private mount namespace gives the program its own /etc/hosts.
@Suite(.timeLimit(.minutes(5))) struct AddressFailoverTests {
    private static let enterWithHosts = ["/usr/bin/unshare", "--mount", "/bin/sh", "-c"]

    private static func isPossible() async throws -> Bool {
        try await ProgramRun(enterWithHosts + ["mount --bind /etc/hosts /etc/hosts"]).end().code == 0
    }

    @Test(.enabled("needs the privilege to make mount namespaces") { try await isPossible() })
    func `if the broker at the first address ends the connection, sub connects to the second address of the host`()
        async throws
    {
        let drop = ConnectionScript.connection([.serve(until: .subscribe), .answer, .cut(.orderly)])
        let first = try ScriptedBroker.start([drop], at: .tcp(host: "127.0.0.1", port: try LocalPort.free()))
        let second = try ScriptedBroker.start([drop], at: .tcp(host: "127.0.0.2", port: first.port))
        let folder = try TemporaryFolder()
        let hosts = folder.file("hosts")
        try "127.0.0.1 two.example\n127.0.0.2 two.example\n".write(toFile: hosts, atomically: true, encoding: .utf8)
        let words = try Peer.courier.words("sub") + ["-h", "two.example", "-p", "\(first.port)", "-t", "a"]
        let run = try ProgramRun(
            Self.enterWithHosts + ["mount --bind \"$0\" /etc/hosts && exec \"$@\"", hosts] + words)
        // The test works with any order of the addresses: without failover, sub would reconnect to the same address.
        _ = try await first.received(.subscribe)
        _ = try await second.received(.subscribe)
        if let id = run.id { kill(id, SIGTERM) }
        _ = await run.end()
        await first.shutdown()
        await second.shutdown()
    }
}

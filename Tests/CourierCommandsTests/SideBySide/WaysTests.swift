import CourierTransport
import TestSupport
import Testing

/// Connection options that the installed version of mosquitto's clients lacks, tested with mosquitto's broker.
struct WaysTests {
    @Test func `sub receives a message from pub over WebSocket`() async throws {
        // Mosquitto 2.0 does not start with listeners for WebSocket alone.
        let folder = try TemporaryFolder()
        let broker = try await RealBroker(settings: "protocol websockets", socketPath: folder.file("other.sock"))
        let courier = try CourierExecutable.path.get()
        let sent = try await ProgramRun(
            [courier, "pub", "-L", "ws://127.0.0.1:\(broker.port)/a/b", "-m", "x", "-r", "-q", "1"]
        ).end()
        #expect(sent == ProgramRun.Outcome(output: [], errors: "", code: 0))
        let place = ["--ws", "-h", "127.0.0.1", "-p", "\(broker.port)"]
        let got = try await ProgramRun([courier, "sub"] + place + ["-t", "a/b", "-C", "1", "-v"]).end()
        #expect(got == ProgramRun.Outcome(output: Array("a/b x\n".utf8), errors: "", code: 0))
        await broker.remove()
    }

    @Test func `pub connects through a SOCKS proxy, and reports an error if the proxy refuses the password`()
        async throws
    {
        let broker = try await RealBroker()
        let proxy = try await RealProxy(.socks5h, user: "ada", password: "se:cret")
        let courier = try CourierExecutable.path.get()
        func run(_ password: String) async throws -> ProgramRun.Outcome {
            try await ProgramRun([
                courier, "pub", "-h", "localhost", "-p", "\(broker.port)", "-t", "a", "-m", "x", "-q", "1", "--proxy",
                "socks5h://ada:\(password)@127.0.0.1:\(proxy.port)",
            ]).end()
        }
        #expect(try await run("se%3Acret") == ProgramRun.Outcome(output: [], errors: "", code: 0))
        let refused = try await run("wrong")
        #expect(refused.code == 1 && refused.errorLines.first == "Unable to connect (Proxy error.).")
        await proxy.kill()
        await broker.remove()
    }

    @Test func `--retain-handling decides whether sub receives retained messages`() async throws {
        let broker = try await RealBroker()
        let courier = try CourierExecutable.path.get()
        let place = ["-h", "127.0.0.1", "-p", "\(broker.port)", "-V", "5", "-t", "a"]
        _ = try await ProgramRun([courier, "pub"] + place + ["-m", "x", "-r", "-q", "1"]).end()
        // Only the case without a message waits for the timeout.
        let cases: [(handling: String, text: String, end: [String], code: Int32)] = [
            ("never", "", ["-W", "10"], 27), ("new", "x\n", ["-C", "1"], 0), ("always", "x\n", ["-C", "1"], 0),
        ]
        for (handling, text, end, code) in cases {
            let got = try await ProgramRun(
                [courier, "sub"] + place + ["--retain-handling", handling] + end
            ).end()
            #expect(got.text == text && got.code == code, "\(handling)")
        }
        await broker.remove()
    }
}

import CommandArguments
import CourierTesting
import CourierTransport
import Testing

@testable import CourierCommands

struct ProxyArgumentsTests {
    private static func settings(_ words: [String]) throws -> ProxyArguments {
        var settings = ProxyArguments()
        try ArgumentReader(ProxyArguments.groups).read(words, into: &settings)
        _ = try settings.checked()
        return settings
    }

    @Test func `courier proxy reads all its options`() throws {
        let settings = try Self.settings([
            "--to", "broker.example:1883", "--listen", "[::1]:0", "--fault", "drop the third PUBACK",
            "--fault=cut after 100 packets", "--record", "run.pcapng", "--inspect", "-d",
        ])
        #expect(settings.broker == HostAndPort(host: "broker.example", port: 1_883))
        #expect(settings.listening == HostAndPort(host: "::1", port: 0) && settings.isLocal)
        #expect(settings.faults == [try FaultRule("drop PUBACK 3"), try FaultRule("cut after 100 packets")])
        #expect(settings.recordPath == "run.pcapng" && settings.recordFormat == .pcapng)
        #expect(settings.isInspected && settings.isDebugging && !settings.isQuiet)
    }

    @Test(
        arguments: [
            ("a.archive", .archive), ("a.mqttchuck", .archive), ("a.JSONL", .jsonLines), ("b/a.pcapng", .pcapng),
        ] as [(String, ProxyArguments.RecordingFormat)])
    func `the file extension in --record decides the format`(path: String, format: ProxyArguments.RecordingFormat)
        throws
    {
        #expect(try Self.settings(["--to", "b:1", "--record", path]).recordFormat == format)
    }

    @Test(arguments: [
        ([], "127.0.0.1:1884", true), (["--listen", "0"], "127.0.0.1:0", true),
        (["--listen", "localhost:5"], "127.0.0.1:5", true), (["--listen", "0.0.0.0:5"], "0.0.0.0:5", false),
        (["--listen", "192.0.2.1:5"], "192.0.2.1:5", false), (["--listen", "[::]:5"], "[::]:5", false),
    ])
    func `courier proxy listens on loopback unless --listen names another address`(
        words: [String], place: String, isLocal: Bool
    ) throws {
        let settings = try Self.settings(["--to", "broker.example:1883"] + words)
        #expect("\(settings.listening)" == place && settings.isLocal == isLocal)
    }

    @Test(arguments: [
        ([], "--to is missing.", "--to 127.0.0.1:1883"),
        (["--to", "broker"], "--to: the port is missing", "HOST:PORT"),
        (["--to", "broker:"], "--to: \"\" is not a port", "0 to 65535"),
        (["--to", "broker:+5"], "--to: \"+5\" is not a port", "0 to 65535"),
        (["--to", ":1883"], "--to: the host is missing", "127.0.0.1:1883"),
        (["--to", "broker:65536"], "--to: \"65536\" is not a port", "0 to 65535"),
        (["--to", "broker:0"], "--to: 0 is not the port of a broker", "often 1883"),
        (["--to", "::1:1883"], "--to: the IPv6 address \"::1\" has no brackets", "[::1]:1883"),
        (["--to", "a b:1883"], "--to: \"a b\" is no host name", "HOST:PORT"),
        (["--to", "mqtts://broker:1"], "--to: \"mqtts://broker:1\" is a URL", "not supported"),
        (["--to", "ada:lace@broker:1"], "--to: there is a user name", "the clients send"),
        (["--to", "b:1", "--listen", "x"], "--listen: \"x\" is not a port", "[HOST:]PORT"),
        (["--to", "b:1", "--listen", "a:b:5"], "--listen: the IPv6 address", "[::1]:1883"),
        (["--to", "localhost:5", "--listen", "5"], "--to: 127.0.0.1:5 is the address of the proxy itself", "--listen"),
        (["--to", "[::1]:5", "--listen", "[::]:5"], "--to: [::1]:5 is the address of the proxy itself", "--listen"),
        (["--to", "b:1", "--fault", "drop PUBACC"], "--fault: \"drop PUBACC\" cannot be read, column 6", "--help"),
        (
            ["--to", "b:1", "--record", "run.txt"],
            "--record: the file name \"run.txt\" does not end with a known format", ".pcapng"
        ),
        (["--to", "b:1", "--quiet", "-d"], "--quiet prints fewer lines and -d prints more.", "Remove one"),
    ])
    func `courier proxy reports the mistake in an invalid option and how to correct the option`(
        words: [String], message: String, hint: String
    ) {
        let error = #expect(throws: ArgumentError.self) { try Self.settings(words) }
        #expect(error?.message.hasPrefix(message) == true, "\(error?.message ?? "")")
        #expect(error?.hint?.contains(hint) == true, "\(error?.hint ?? "")")
        #expect(error?.message.contains("lace") == false)
    }

    @Test(
        arguments: [
            (.addressInUse, "another port with --listen"), (.hostNotFound, "an address of this machine"),
            (.permissionDenied, "ports below 1024"), (.invalidConfiguration, "--listen"),
        ] as [(TransportError.Code, String)])
    func `the hint of courier proxy depends on the listen error`(code: TransportError.Code, hint: String) {
        #expect(ProxyCommand.hint(code)?.contains(hint) == true)
    }

    @Test func `the summary of courier proxy shows the numbers of connections, packets and faults`() {
        #expect(
            ProxyLines.summary(ProxyCounts())
                == "0 connections, 0 packets from clients, 0 packets from the broker, 0 faults.")
    }
}

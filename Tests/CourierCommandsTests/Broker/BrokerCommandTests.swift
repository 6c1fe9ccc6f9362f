import CommandArguments
import CourierCore
import CourierTransport
import Glibc
import TestSupport
import Testing

@testable import CourierCommands

struct BrokerCommandTests {
    @Test(arguments: [SIGINT, SIGTERM])
    func `mosquitto's clients can use courier broker, and a signal ends the broker with exit code 0`(signal: Int32)
        async throws
    {
        let broker = try await RunningBroker()
        let sent = try await ProgramRun(
            ["/usr/bin/mosquitto_pub"] + broker.place + ["-t", "room/7", "-m", "on", "-r", "-q", "2"]
        ).end()
        #expect(sent.code == 0 && sent.errors == "")
        let got = try await ProgramRun(
            ["/usr/bin/mosquitto_sub"] + broker.place + ["-t", "room/#", "-v", "-C", "1", "-V", "mqttv5"]
        ).end()
        #expect(got.text == "room/7 on\n")
        kill(try #require(broker.run.id), signal)
        let outcome = await broker.run.end()
        #expect(outcome.code == 0 && outcome.errors == "")
        #expect(outcome.text.contains("Do not use this broker in production"))
    }

    @Test func `courier broker with -u and -P accepts only clients with the password`() async throws {
        let broker = try await RunningBroker(["-u", "ada", "-P", "lace"])
        let pub = [try CourierExecutable.path.get(), "pub"] + broker.place + ["-t", "a", "-m", "x", "-q", "1"]
        #expect(try await ProgramRun(pub + ["-u", "ada", "-P", "lace"]).end().code == 0)
        #expect(try await ProgramRun(pub).end().code == 4)
        #expect(!RunningBroker.text(broker.run).contains("lace"))
        kill(try #require(broker.run.id), SIGTERM)
        #expect(await broker.run.end().code == 0)
    }

    @Test func `courier broker exits with 1 and a hint if the port is in use`() async throws {
        let broker = try await RunningBroker()
        let second = try await ProgramRun([try CourierExecutable.path.get(), "broker", "-p", "\(broker.port)"]).end()
        #expect(second.code == 1 && second.output.isEmpty)
        #expect(second.errorLines.count == 2 && second.errors.contains("another port with -p"))
        kill(try #require(broker.run.id), SIGTERM)
        _ = await broker.run.end()
    }

    @Test(
        arguments: [
            (.permissionDenied, ["-p", "80"], "ports below 1024"),
            (.permissionDenied, ["--unix", "/s"], "no permission to create a socket"),
            (.socketNotFound, ["--unix", "/missing/s"], "Create the folder"),
            (.addressInUse, ["--unix", "/s"], "Remove the socket file"),
        ] as [(TransportError.Code, [String], String)])
    func `the hint of courier broker depends on the listen error and the address`(
        code: TransportError.Code, words: [String], hint: String
    ) throws {
        var settings = BrokerArguments()
        try ArgumentReader(BrokerArguments.groups).read(words, into: &settings)
        #expect(BrokerCommand.hint(code, settings)?.contains(hint) == true)
    }

    @Test func `courier broker exits with 1 and a hint if the socket's folder does not exist`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("missing/s")
        let outcome = try await ProgramRun([try CourierExecutable.path.get(), "broker", "--unix", path]).end()
        #expect(outcome.code == 1 && outcome.output.isEmpty)
        #expect(outcome.errors.contains("the folder of the socket does not exist: "), "\(outcome.errors)")
        #expect(outcome.errorLines.count == 2 && outcome.errors.contains("Create the folder"), "\(outcome.errors)")
    }

    @Test(arguments: [
        (["-p", "70000"], "Invalid port given: 70000"), (["-p", "x"], "Invalid port given: x"),
        (["-u", "ada"], "Both -u and -P must be provided if one of them is set."),
        (["--cert", "f"], "Both --cert and --key must be provided if one of them is set."),
        (["--cafile", "f"], "--cafile needs TLS, but the broker does not use TLS."), (["x"], "Unknown option 'x'."),
    ])
    func `courier broker refuses invalid and incomplete options`(words: [String], message: String) {
        let error = #expect(throws: ArgumentError.self) {
            var settings = BrokerArguments()
            try ArgumentReader(BrokerArguments.groups).read(words, into: &settings)
            try settings.check()
        }
        #expect(error?.message == message)
    }

    @Test(arguments: [
        ([], "mqtt://127.0.0.1:1883.", "Every client on this machine may connect"),
        (["-h", "localhost"], "mqtt://127.0.0.1:1883.", "on this machine"),
        (
            ["-h", "0.0.0.0"], "mqtt://0.0.0.0:1883.",
            "may connect, read and write. To require a password, add -u and -P."
        ),
        (["-h", "::1", "-u", "a", "-P", "b"], "mqtt://[::1]:1883.", "if it knows the user name and the password."),
        (["--cert", "c", "--key", "k", "--cafile", "a"], "mqtts://127.0.0.1:1883.", "if it has a certificate."),
        (
            ["--cert", "c", "--key", "k", "--cafile", "a", "-u", "a", "-P", "b"], "mqtts://127.0.0.1:1883.",
            "may connect if it has a certificate and knows the user name and the password."
        ), (["--unix", "/run/s"], "the Unix socket /run/s.", "on this machine"),
    ])
    func `the banner of courier broker prints the address and who can connect`(
        words: [String], place: String, access: String
    ) throws {
        var settings = BrokerArguments()
        try ArgumentReader(BrokerArguments.groups).read(words, into: &settings)
        let lines = BrokerBanner(arguments: settings, port: settings.port).lines
        #expect(lines.first?.hasSuffix(place) == true)
        #expect(lines.contains { $0.contains(access) })
    }

    @Test(arguments: [1_883, 8_883, 4_711] as [UInt16], [[], ["--cert", "c", "--key", "k"]])
    func `the pub command in the banner has the broker's port and TLS options`(port: UInt16, security: [String]) throws
    {
        let wanted: [[String]] = security.isEmpty ? [[]] : [[], ["--cafile", "a"]]
        for clients in wanted {
            var settings = BrokerArguments()
            try ArgumentReader(BrokerArguments.groups).read(security + clients, into: &settings)
            let lines = BrokerBanner(arguments: settings, port: port).lines
            let line = try #require(lines.first { $0.contains("courier pub ") })
            var client = PublishArguments()
            let words = line.split(separator: " ").dropFirst(2).map { String($0) }
            try ArgumentReader(PublishArguments.groups).read(words, into: &client)
            #expect(client.connection.connectOptions.port == port, "\(line)")
            #expect(client.connection.isSecure == !security.isEmpty, "\(line)")
            #expect((client.connection.tls.certificateFile != nil) == !clients.isEmpty, "\(line)")
        }
    }
}

import CommandArguments
import Foundation
import Glibc
import TestSupport
import Testing

@testable import CourierCommands

/// `courier proxy` between mosquitto and its clients.
@Suite(.timeLimit(.minutes(5))) struct ProxyCommandTests {
    private static let password = "s3cret-lace"

    /// Publishes with mosquitto_pub through the proxy.
    private static func publish(_ proxy: RunningProxy, _ words: String...) async throws -> ProgramRun.Outcome {
        try await ProgramRun(["/usr/bin/mosquitto_pub"] + proxy.place + words).end()
    }

    @Test(arguments: [SIGINT, SIGTERM], ["mqttv311", "mqttv5"])
    func `mosquitto's clients work through courier proxy, and a signal ends courier proxy with a summary`(
        signal: Int32, version: String
    ) async throws {
        let broker = try await RealBroker()
        let proxy = try await RunningProxy(to: broker.port)
        let sent = try await Self.publish(proxy, "-V", version, "-t", "room/7", "-m", "on", "-r", "-q", "2")
        #expect(sent.code == 0 && sent.errors == "")
        let got = try await ProgramRun(
            ["/usr/bin/mosquitto_sub"] + proxy.place + ["-t", "room/#", "-v", "-C", "1", "-V", version]
        ).end()
        #expect(got.text == "room/7 on\n")
        let outcome = try await proxy.end(by: signal)
        #expect(outcome.code == 0 && outcome.errors == "")
        #expect(outcome.text.contains("connection 1: opened\n") && outcome.text.contains("connection 2: ended: "))
        #expect(outcome.text.contains("\n2 connections, "), "\(outcome.text)")
    }

    @Test func `mosquitto_sub receives a delayed PUBLISH late, and later messages after it`() async throws {
        let broker = try await RealBroker()
        let proxy = try await RunningProxy(to: broker.port, ["--fault", "delay PUBLISH to a/# by 700 ms"])
        let reader = try ProgramRun(
            RunningProxy.subscriber + proxy.place + ["-t", "a/#", "-t", "b", "-C", "2", "-F", "%t %p"])
        try await reader.wait { $0.text.contains("Subscribed") }
        let start = ContinuousClock.now
        let direct = ["/usr/bin/mosquitto_pub", "-h", "127.0.0.1", "-p", "\(broker.port)"]
        for topic in ["a/1", "b"] { _ = try await ProgramRun(direct + ["-t", topic, "-m", "x"]).end() }
        let lines = await reader.end().text.split(separator: "\n")
        #expect(lines.filter { $0.hasSuffix(" x") } == ["a/1 x", "b x"])
        #expect(ContinuousClock.now - start >= .milliseconds(700))
        let outcome = try await proxy.end()
        #expect(
            outcome.text.contains(
                "connection 1: delayed PUBLISH from the broker, a/1, QoS 0, 8 bytes (rule: delay every PUBLISH to a/# by "
            ),
            "\(outcome.text)")
    }

    @Test func `after courier proxy cuts its connection, mosquitto_sub reconnects and receives its session's messages`()
        async throws
    {
        let broker = try await RealBroker()
        let proxy = try await RunningProxy(to: broker.port, ["--fault", "cut at the first PUBLISH"])
        let reader = try ProgramRun(
            RunningProxy.subscriber + proxy.place
                + ["-i", "keeper", "-c", "-q", "1", "-t", "x", "-C", "1", "-F", "%p"])
        try await reader.wait { $0.text.contains("Subscribed") }
        _ = try await ProgramRun(
            ["/usr/bin/mosquitto_pub", "-h", "127.0.0.1", "-p", "\(broker.port)", "-t", "x", "-m", "late", "-q", "1"]
        ).end()
        let end = await reader.end()
        #expect(end.code == 0 && end.text.split(separator: "\n").contains("late"))
        let outcome = try await proxy.end()
        #expect(outcome.text.contains("connection 1: cut at PUBLISH from the broker, x"), "\(outcome.text)")
        #expect(outcome.text.contains("connection 2: opened"))
    }

    // MARK: Recordings

    @Test(arguments: ["run.archive", "run.jsonl", "run.pcapng"])
    func `a recording of courier proxy has mode 0600 and all packets, and no password is recorded or printed`(
        name: String
    ) async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("recorded/\(name)")
        try FileManager.default.createDirectory(atPath: folder.file("recorded"), withIntermediateDirectories: true)
        let broker = try await RealBroker()
        let proxy = try await RunningProxy(to: broker.port, ["--record", path, "-d"])
        #expect(try Self.permissions(folder.file("recorded")).allSatisfy { $0 == 0o600 })
        for version in ["mqttv31", "mqttv311", "mqttv5"] {
            let words = ["-u", "ada", "-P", Self.password, "-V", version]
            let sent = try await ProgramRun(
                ["/usr/bin/mosquitto_pub"] + proxy.place + ["-t", "orders/7", "-m", "pizza", "-q", "1"] + words
            ).end()
            #expect(sent.code == 0)
        }
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.file("recorded"))
        #expect(files.contains(name))
        #expect(try Self.permissions(folder.file("recorded")).allSatisfy { $0 == 0o600 })
        let outcome = try await proxy.end()
        #expect(outcome.code == 0 && outcome.errors == "")
        #expect(
            outcome.text.contains("connection 3: CONNECT from the client, no client id, MQTT 5.0"), "\(outcome.text)")
        #expect(outcome.text.contains("PUBLISH from the client, orders/7, QoS 1, id 1, "))
        #expect(!outcome.text.contains(Self.password) && !outcome.text.contains("pizza"))
        for file in try FileManager.default.contentsOfDirectory(atPath: folder.file("recorded")) {
            let data = try Data(contentsOf: URL(fileURLWithPath: folder.file("recorded/\(file)")))
            #expect(data.range(of: Data(Self.password.utf8)) == nil, "\(file)")
            #expect(data.range(of: Data(Self.password.utf8).base64EncodedData()) == nil, "\(file)")
        }
        if name.hasSuffix(".pcapng") {
            let lines = try ChildProcess.run([
                "tshark", "-r", path, "-Y", "mqtt.msgtype == 3", "-T", "fields", "-e", "mqtt.topic",
            ])
            #expect(
                String(decoding: lines, as: UTF8.self).split(separator: "\n").filter { $0 == "orders/7" }.count == 3)
        } else {
            let listed = try await ProgramRun(
                [try CourierExecutable.path.get(), "inspect", path, "-q", "type:publish topic:orders/#"]
            ).end()
            #expect(listed.text.split(separator: "\n").count == 3, "\(listed)")
        }
    }

    private static func permissions(_ folder: String) throws -> [Int] {
        try FileManager.default.contentsOfDirectory(atPath: folder).compactMap { name in
            let attributes = try? FileManager.default.attributesOfItem(atPath: folder + "/" + name)
            return attributes?[.posixPermissions] as? Int
        }
    }

    @Test func `a CONNECT that a rule has corrupted is recorded without its password`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("run.jsonl")
        let broker = try await RealBroker()
        let proxy = try await RunningProxy(to: broker.port, ["--record", path, "--fault", "corrupt CONNECT"])
        let sent = try await Self.publish(proxy, "-t", "a", "-m", "x", "-q", "1", "-u", "ada", "-P", Self.password)
        #expect(sent.code == 0)
        #expect(try await proxy.end().code == 0)
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
        let connect = try #require(lines.first { $0.contains("\"type\":\"CONNECT\"") })
        let coded = try #require(connect.firstMatch(of: #/"bytes":"([^"]*)"/#)?.1)
        let bytes = try #require(Data(base64Encoded: String(coded)))
        #expect(bytes.range(of: Data(Self.password.dropLast().utf8)) == nil)
        #expect(bytes.suffix(Self.password.utf8.count).allSatisfy { $0 == UInt8(ascii: "*") })
    }

    @Test func `courier proxy --inspect serves the inspector's page, and prints its address to standard error`()
        async throws
    {
        let broker = try await RealBroker()
        let proxy = try await RunningProxy(to: broker.port, ["--inspect"])
        try await proxy.run.wait { $0.errors.contains("Inspector: http://") }
        let address = try #require(proxy.run.errors.firstMatch(of: #/Inspector: (http:\S+)/#)?.1)
        let page = try await ProgramRun(["curl", "--silent", "--fail", String(address)]).end()
        #expect(page.code == 0 && page.text.contains("<html"))
        #expect(try await proxy.end().code == 0)
    }

    // MARK: Failures

    @Test func `if no broker listens, courier proxy ends the client's connection and prints the reason`() async throws {
        let proxy = try await RunningProxy(to: try LocalPort.free())
        #expect(try await Self.publish(proxy, "-t", "a", "-m", "x").code != 0)
        let outcome = try await proxy.end()
        #expect(outcome.code == 0)
        #expect(outcome.text.contains("connection 1: ended: the broker cannot be reached: "), "\(outcome.text)")
    }

    @Test func `with --quiet, courier proxy prints only the banner and the summary`() async throws {
        let broker = try await RealBroker()
        let proxy = try await RunningProxy(to: broker.port, ["--quiet", "--fault", "duplicate PUBLISH"])
        #expect(try await Self.publish(proxy, "-t", "a", "-m", "x").code == 0)
        let lines = try await proxy.end().text.split(separator: "\n")
        #expect(lines.count == 4 && lines[1] == "Rule: duplicate every PUBLISH")
        #expect(lines[3].hasPrefix("1 connection, 4 packets from clients, ") && lines[3].hasSuffix(", 1 fault."))
    }

    @Test func `courier proxy prints a warning if it listens on an address that is not loopback`() async throws {
        let broker = try await RealBroker()
        let courier = try CourierExecutable.path.get()
        let run = try ProgramRun([courier, "proxy", "--to", "127.0.0.1:\(broker.port)", "--listen", "0.0.0.0:0"])
        try await run.wait { $0.errors.contains("\n") }
        kill(try #require(run.id), SIGTERM)
        let outcome = await run.end()
        #expect(outcome.code == 0)
        #expect(
            outcome.errors == "Warning: other machines can reach 0.0.0.0, and can use the broker through the proxy.\n")
    }

    @Test func `courier proxy exits with 1 and a hint if the port is in use or the recording cannot be written`()
        async throws
    {
        let broker = try await RealBroker()
        let courier = try CourierExecutable.path.get()
        let (place, used) = ("127.0.0.1:\(try LocalPort.free())", "\(broker.port)")
        let busy = try await ProgramRun([courier, "proxy", "--to", place, "--listen", used]).end()
        #expect(busy.code == 1 && busy.output.isEmpty)
        #expect(busy.errorLines.count == 2 && busy.errors.contains("another port with --listen"), "\(busy.errors)")

        let folder = try TemporaryFolder()
        try Data("theirs".utf8).write(to: URL(fileURLWithPath: folder.file("target")))
        for name in ["a.jsonl", "a.pcapng", "a.archive"] {
            let link = folder.file(name)
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: folder.file("target"))
            let refused = try await ProgramRun([courier, "proxy", "--to", place, "--listen", "0", "--record", link])
                .end()
            #expect(refused.code == 1 && refused.output.isEmpty, "\(refused)")
            #expect(refused.errors.contains(link) && refused.errors.contains("symbolic link"), "\(refused.errors)")
        }
        #expect(try String(contentsOfFile: folder.file("target"), encoding: .utf8) == "theirs")
    }
}

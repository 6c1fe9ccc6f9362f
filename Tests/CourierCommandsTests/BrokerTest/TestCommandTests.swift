import CommandArguments
import CourierTesting
import CourierTransport
import Foundation
import Glibc
import MQTTCodec
import TestSupport
import Testing

@testable import CourierCommands

struct TestCommandTests {
    private static func place(_ broker: RealBroker) -> [String] { ["-h", "127.0.0.1", "-p", "\(broker.port)"] }

    // MARK: Correct brokers

    @Test func `courier test finds no problem in mosquitto with MQTT 5 and 3.1.1`() async throws {
        let broker = try await RealBroker()
        let outcome = try await TestProgram.test(Self.place(broker) + ["--max-payload", "100000"])
        #expect(outcome.code == 0 && outcome.errors == "", "\(outcome.text)")
        for words in [
            "MQTT 5\nok       connect ", "\n\nMQTT 3.1.1\nok       connect ", "10 of 10 messages arrived exactly once",
            "100,000 bytes, the largest size that was tried (--max-payload)",
            "65,535 bytes, the maximum that MQTT allows",
            "The broker does what the specification requires: 50 probes, 0 problems, ",
        ] { #expect(outcome.text.contains(words), "\(words) in \(outcome.text)") }
        await broker.remove()
    }

    @Test func `courier test --json reports the limits of mosquitto's configuration`() async throws {
        let broker = try await RealBroker(
            settings: """
                max_inflight_messages 7
                max_packet_size 4096
                max_keepalive 30
                max_topic_alias 3
                """)
        let (report, code) = try await TestProgram.report(Self.place(broker) + ["-V", "mqttv5", "--count", "3"])
        let version = try #require(report.versions.first)
        #expect(code == 0 && report.isConformant && report.isComplete && report.versions.count == 1)
        #expect(report.broker == "127.0.0.1:\(broker.port)" && version.version == "5" && version.isComplete)
        for (name, announced, found) in [
            ("receiveMaximum", 7, 7), ("topicAliasMaximum", 3, 3), ("maximumPacketSize", 4_096, 4_096),
            ("maximumQoS", 2, 2), ("serverKeepAlive", 30, nil), ("qos2", nil, 3),
        ] as [(String, Int?, Int?)] {
            let probe = version[name]
            #expect(probe?.announced == announced && probe?.found == found, "\(name): \(String(describing: probe))")
        }
        let size = try #require(version["largestPayload"]?.found)
        #expect((3_900..<4_096).contains(size))
        await broker.remove()
    }

    @Test(arguments: [[], ["-V", "mqttv311"]])
    func `courier test notes features that mosquitto announces as unavailable, and exits with 0`(options: [String])
        async throws
    {
        let broker = try await RealBroker(settings: "max_qos 1\nretain_available false")
        let (report, code) = try await TestProgram.report(
            Self.place(broker) + ["--count", "2", "--max-payload", "1000"] + options)
        #expect(code == 0 && report.isConformant, "\(report)")
        #expect(report.versions.map(\.version) == (options.isEmpty ? ["5", "3.1.1"] : ["3.1.1"]))
        for version in report.versions {
            for name in ["qos2", "retainedMessages"] { #expect(version[name]?.state == "notice", "\(version)") }
            #expect(version["qos1"]?.state == "good" && version["qos1"]?.found == 2)
        }
        if options.isEmpty {
            #expect(report.versions[0].limits?.maximumQoS == 1)
            #expect(report.versions[0]["maximumQoS"]?.found == 1)
        }
        await broker.remove()
    }

    @Test func `courier test finds the message size limit of mosquitto with MQTT 3.1.1`() async throws {
        let broker = try await RealBroker(settings: "message_size_limit 1000")
        let (report, _) = try await TestProgram.report(
            Self.place(broker) + ["-V", "311", "--count", "2", "--max-payload", "5000"])
        #expect(report.versions.first?["largestPayload"]?.found == 1_000, "\(report)")
        await broker.remove()
    }

    @Test func `courier test names the violated clause if mosquitto answers a large message with a forbidden code`()
        async throws
    {
        let broker = try await RealBroker(settings: "message_size_limit 1000")
        let (report, code) = try await TestProgram.report(
            Self.place(broker) + ["-V", "5", "--count", "2", "--max-payload", "5000"])
        // mosquitto 2.0.11 sends PUBACK with reason code 0x95.
        let problem = report.versions.first?["largestPayload"]
        #expect(code == 2 && problem?.found == 1_000 && problem?.clause == "[MQTT-3.4.2-1]", "\(report)")
        await broker.remove()
    }

    @Test func `courier test notes a broker without MQTT 5, and reports an error if -V requires MQTT 5`() async throws {
        var configuration = BrokerConfiguration()
        configuration.versions = [.v311]
        let broker = try LoopbackBroker.start(configuration: configuration)
        let place = ["-h", "127.0.0.1", "-p", "\(broker.port)", "--max-payload", "1000"]
        let (both, code) = try await TestProgram.report(place)
        #expect(code == 0 && both.isComplete && both.versions.first?["connect"]?.state == "notice", "\(both)")
        let (one, failure) = try await TestProgram.report(place + ["-V", "mqttv5"])
        #expect(failure == 5 && !one.isComplete && one.versions.first?.problems.count == 1, "\(one)")
        await broker.shutdown()
    }

    @Test func `courier test leaves no retained message and no session, and uses its own topics and short client ids`()
        async throws
    {
        let altering = try AlteringBroker { packet, _ in [packet] }
        let outcome = try await TestProgram.test(altering.place + ["--count", "2", "--max-payload", "1000"])
        #expect(outcome.code == 0, "\(outcome.text)")
        var sessions: Set<String> = []
        /// The topics of retained messages, and whether the last message removes the retained message.
        var retained: [String: Bool] = [:]
        for packet in altering.sent.values {
            switch packet {
            case .connect(let connect):
                if !connect.isCleanStart { sessions.insert(connect.clientID) }
                // Only the probe of client ids uses longer client ids.
                let isShort = connect.clientID.utf8.count <= 23 || connect.clientID.hasSuffix("iiiii")
                #expect(isShort, "\(connect.clientID)")
            case .publish(let publish):
                let isOwn = ["courier-test-", "$courier/"].contains { publish.topic.hasPrefix($0) }
                #expect(isOwn || publish.properties.topicAlias != nil, "\(publish.topic)")
                if publish.isRetained { retained[publish.topic] = publish.payload.isEmpty }
            default: break
            }
        }
        #expect(sessions.count >= 4 && retained.count >= 3 && retained.values.allSatisfy(\.self), "\(retained)")
        let loop = try EventLoop(name: "check")
        let broker = altering.broker.endpoint
        for id in sessions {
            let question = BrokerDialogue.Question(
                connect: Connect(version: .v311, clientID: id, isCleanStart: false), timeLimit: .patience)
            let answer = await withCheckedContinuation { continuation in
                Thread.detachNewThread {
                    continuation.resume(returning: BrokerDialogue.hold(question, with: broker, on: loop))
                }
            }
            #expect(answer.connAck?.isSessionPresent == false, "\(id)")
        }
        await loop.shutdown()
        await altering.shutdown()
    }

    // MARK: Failures

    @Test func `courier test continues with the next probe if the broker does not answer a probe`() async throws {
        let broker = try ScriptedBroker.start(afterwards: [.accept(), .stall])
        let run = try ProgramRun(
            [try CourierExecutable.path.get(), "test", "-h", "127.0.0.1", "-p", "\(broker.port)", "-V", "311"]
                + ["--timeout", "4"])
        try await run.wait { RunningBroker.text($0).contains("QoS 1 ") }
        kill(try #require(run.id), SIGINT)
        let outcome = await run.end()
        for line in ["ok       connect ", "PROBLEM  ping ", "PROBLEM  QoS 0 ", "PROBLEM  QoS 1 "] {
            #expect(outcome.text.contains(line), "\(outcome.text)")
        }
        #expect(outcome.text.contains("no answer within 4 seconds") && outcome.code == 128 + SIGINT)
        await broker.shutdown()
    }

    @Test func `a probe of courier test ends at its time limit or a signal, even if other messages are received`()
        async throws
    {
        let broker = try ScriptedBroker.start(afterwards: [.accept(), .flood(PublishFlood(count: 2_000_000))])
        let run = try ProgramRun(
            [try CourierExecutable.path.get(), "test", "-h", "127.0.0.1", "-p", "\(broker.port)", "-V", "311"]
                + ["--timeout", "4"])
        try await run.wait { RunningBroker.text($0).contains("QoS 0 ") }
        kill(try #require(run.id), SIGINT)
        let outcome = await run.end()
        #expect(outcome.code == 128 + SIGINT && outcome.text.contains("PROBLEM  QoS 0 "), "\(outcome.text)")
        await broker.shutdown()
    }

    @Test func `courier test exits with 2 if the server sends bytes that are not MQTT`() async throws {
        let broker = try ScriptedBroker.start(afterwards: [.expect(.connect), .sendBytes(Array("HTTP/1.1 400".utf8))])
        let outcome = try await TestProgram.test(["-h", "127.0.0.1", "-p", "\(broker.port)"])
        #expect(outcome.code == 2 && outcome.text.contains("PROBLEM  connect "), "\(outcome.text)")
        #expect(outcome.text.contains("the answer is not valid MQTT") && outcome.text.contains("Use courier doctor"))
        await broker.shutdown()
    }

    @Test func `courier test exits with 5 if the broker refuses the password, and with 1 if no server answers`()
        async throws
    {
        let broker = try await RunningBroker(["-u", "ada", "-P", "lace"])
        let refused = try await TestProgram.test(broker.place + ["-u", "ada", "-P", "wrong"])
        #expect(refused.code == 5 && refused.text.contains("The broker cannot be tested."), "\(refused.text)")
        kill(try #require(broker.run.id), SIGTERM)
        _ = await broker.run.end()
        let nobody = try await TestProgram.test(["-h", "127.0.0.1", "-p", "\(try LocalPort.free())"])
        #expect(nobody.code == 1 && nobody.text.contains("PROBLEM  connect "), "\(nobody.text)")
    }

    @Test func `courier test supports TLS, and exits with 8 if the certificate is not trusted`() async throws {
        let certificates = try await Certificates.shared
        let files = certificates.server
        let broker = try await RunningBroker(["--cert", files.certificateFile, "--key", files.privateKeyFile])
        let place = ["-h", "localhost", "-p", "\(broker.port)", "--max-payload", "1000", "-V", "311"]
        let trusted = try await TestProgram.test(place + ["--cafile", certificates.authorityFile])
        #expect(trusted.code == 0, "\(trusted.text)")
        let other = try await TestProgram.test(place + ["--tls-use-os-certs"])
        #expect(other.code == 8, "\(other.text)")
        kill(try #require(broker.run.id), SIGTERM)
        _ = await broker.run.end()
    }

    @Test(arguments: [(false, SIGINT), (true, SIGTERM)])
    func `a signal ends courier test, which prints the results so far`(isJSON: Bool, number: Int32) async throws {
        let broker = try ScriptedBroker.start(afterwards: [.accept(), .stall])
        let run = try ProgramRun(
            [try CourierExecutable.path.get(), "test", "-h", "127.0.0.1", "-p", "\(broker.port)", "-V", "311"]
                + ["--timeout", "60"] + (isJSON ? ["--json"] : []))
        // The first connection is for the limits, and the next one for the probe that gets no answer.
        try await broker.received(.pingReq)
        kill(try #require(run.id), number)
        let outcome = await run.end()
        #expect(outcome.code == 128 + number, "\(outcome.text)")
        if isJSON {
            let report = try JSONDecoder().decode(TestProgram.Report.self, from: Data(outcome.output))
            #expect(!report.isComplete && !report.isConformant)
            #expect(report.versions.first?.probes.map(\.probe) == ["connect"])
        } else {
            #expect(outcome.text.contains("ok       connect "))
            #expect(outcome.text.contains("The test was interrupted after 1 probe, 0 problems, 0 notes."))
        }
        await broker.shutdown()
    }

    // MARK: Options

    @Test(arguments: [
        (["--timeout", "0"], "Invalid timeout \"0\"."), (["--timeout", "61"], "Invalid timeout \"61\"."),
        (["--count", "0"], "Invalid count \"0\"."), (["--count", "x"], "Invalid count \"x\"."),
        (["--max-payload", "0"], "Invalid payload size \"0\"."),
        (["--max-payload", "67108865"], "Invalid payload size \"67108865\"."),
        (["-V", "mqttv31"], "test does not support the MQTT version \"mqttv31\"."),
        (["-L", "ws://broker.example"], "test cannot examine WebSocket connections."),
        (["--will-topic", "a"], "Unknown option '--will-topic'."), (["-i", "me"], "Unknown option '-i'."),
        (["--count"], "--count argument given but no count specified."),
    ])
    func `courier test refuses invalid values and unsupported options`(words: [String], message: String) {
        var settings = TestArguments()
        let error = #expect(throws: ArgumentError.self) {
            try ArgumentReader(TestArguments.groups).read(words, into: &settings)
        }
        #expect(error?.message == message)
    }
}

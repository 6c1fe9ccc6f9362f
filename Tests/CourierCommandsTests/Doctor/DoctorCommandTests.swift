import CommandArguments
import CourierTesting
import CourierTransport
import Foundation
import Glibc
import MQTTCodec
import TestSupport
import Testing

@testable import CourierCommands

struct DoctorCommandTests {
    private static func doctor(_ words: [String]) async throws -> ProgramRun.Outcome {
        // A long timeout for busy machines. The expected answers arrive at once.
        try await ProgramRun([try CourierExecutable.path.get(), "doctor", "-W", "60"] + words).end()
    }

    private static func problems(_ outcome: ProgramRun.Outcome) -> [String] {
        outcome.text.split(separator: "\n").map(String.init).filter { $0.hasPrefix("PROBLEM") }
    }

    @Test func `doctor tests a working broker with two MQTT versions and finds no problem`() async throws {
        let broker = try await RealBroker()
        let outcome = try await Self.doctor(["-h", "127.0.0.1", "-p", "\(broker.port)", "--publish", "-n", "3"])
        #expect(outcome.code == 0 && outcome.errors == "" && Self.problems(outcome) == [])
        for words in ["MQTT 5      the broker accepts", "MQTT 3.1.1  the broker accepts", "3 messages of QoS 1"] {
            #expect(outcome.text.contains(words), "\(words) in \(outcome.text)")
        }
        await broker.remove()
    }

    @Test func `doctor --json reports the limits that the broker announces`() async throws {
        let broker = try await RealBroker(
            settings: """
                max_qos 1
                max_inflight_messages 7
                max_packet_size 4096
                max_keepalive 30
                max_topic_alias 3
                retain_available false
                """)
        let outcome = try await Self.doctor(["-h", "127.0.0.1", "-p", "\(broker.port)", "--json", "-n", "4"])
        struct Report: Decodable {
            struct Limits: Decodable, Equatable {
                var receiveMaximum: Int
                var maximumQoS: Int
                var maximumPacketSize: Int?
                var retain: Bool
                var keepAlive: Int
                var topicAliasMaximum: Int
                var sharedSubscriptions: Bool
            }
            let isUsable: Bool
            let limits: Limits
            let roundTripsInMilliseconds: [Double]
        }
        let report = try JSONDecoder().decode(Report.self, from: Data(outcome.output))
        #expect(outcome.code == 0 && report.isUsable && report.roundTripsInMilliseconds.count == 4)
        #expect(
            report.limits
                == Report.Limits(
                    receiveMaximum: 7, maximumQoS: 1, maximumPacketSize: 4_096, retain: false, keepAlive: 30,
                    topicAliasMaximum: 3, sharedSubscriptions: true))
        await broker.remove()
    }

    @Test func `doctor measures round trips by pings if the broker supports only QoS 0`() async throws {
        let broker = try await RealBroker(settings: "max_qos 0")
        let outcome = try await Self.doctor(["-h", "127.0.0.1", "-p", "\(broker.port)", "--publish", "-n", "3"])
        // Mosquitto would answer a message of QoS 1 with DISCONNECT.
        #expect(outcome.code == 0 && Self.problems(outcome) == [], "\(outcome.text)")
        #expect(outcome.text.contains("3 pings, because the broker accepts no messages of QoS 1: "), "\(outcome.text)")
        await broker.remove()
    }

    @Test(arguments: [false, true])
    func `doctor leaves no session on the broker, even if the broker denies publishing`(isDenied: Bool) async throws {
        let folder = try TemporaryFolder()
        try "topic read #\n".write(toFile: folder.file("acl"), atomically: true, encoding: .utf8)
        let broker = try await RealBroker(settings: isDenied ? "acl_file \(folder.file("acl"))" : "")
        let place = ["-h", "127.0.0.1", "-p", "\(broker.port)"]
        let outcome = try await Self.doctor(place + ["-i", "known", "--publish"])
        #expect(outcome.code == (isDenied ? 2 : 0), "\(outcome.text)")
        #expect(outcome.text.contains("Ask the broker's administrator for the permission") == isDenied)
        // If the broker had kept the session, session present would be set here.
        let next = try await ProgramRun(
            ["/usr/bin/mosquitto_sub"] + place + ["-i", "known", "-c", "-V", "mqttv5", "-t", "a", "-d", "-E"]
        ).end()
        #expect(next.text.contains("CONNACK (0)"), "\(next.text)")
        await broker.remove()
    }

    @Test func `doctor exits with 5 if the user name or the password is wrong`() async throws {
        let broker = try await RunningBroker(["-u", "ada", "-P", "lace"])
        let place = ["-h", "127.0.0.1", "-p", "\(broker.port)"]
        let wrong = try await Self.doctor(place + ["-u", "ada", "-P", "wrong"])
        #expect(wrong.code == 5 && Self.problems(wrong).count == 1)
        #expect(wrong.text.contains("Correct the user name (-u) and the password (-P)."))
        let right = try await Self.doctor(place + ["-u", "ada", "-P", "lace"])
        #expect(right.code == 0 && right.text.contains("connected as ada"))
        #expect(right.text.contains("are sent unencrypted") && !right.text.contains("lace"))
        kill(try #require(broker.run.id), SIGTERM)
        _ = await broker.run.end()
    }

    @Test func `doctor exits with 5 if the broker refuses connections because it is busy`() async throws {
        // The first connection only checks that a program listens. The last connection uses MQTT 3.1.1.
        let broker = try ScriptedBroker.start([
            .connection(), .connection([.refuse(.serverBusy)]), .connection([.refuse(.serverUnavailable)]),
        ])
        let outcome = try await Self.doctor(["-h", "127.0.0.1", "-p", "\(broker.port)"])
        #expect(outcome.code == 5 && Self.problems(outcome).count == 1, "\(outcome.text)")
        #expect(outcome.text.contains("PROBLEM  access      the broker refuses the connection: "), "\(outcome.text)")
        #expect(outcome.text.contains("Try again later."), "\(outcome.text)")
        await broker.shutdown()
    }

    @Test(arguments: [
        ("server", "localhost", nil), ("server", "127.0.0.1", nil), ("chained", "localhost", nil),
        ("expired", "localhost", "expired on 2020-02-01"), ("early", "localhost", "is not valid before "),
        ("elsewhere", "localhost", "is for elsewhere.example, but not for localhost"),
        ("nameless", "localhost", "has no subject alternative name"),
        ("stranger", "localhost", "depends on the unknown authority CN=other-ca"),
        ("unchained", "localhost", "depends on the unknown authority CN=middle-ca"),
        ("self-signed", "localhost", "is self-signed"),
    ])
    func `doctor reports what is wrong with a server certificate and gives advice`(
        identity: String, host: String, complaint: String?
    ) async throws {
        let certificates = try await Certificates.shared
        let files = certificates.identity(identity)
        let broker = try await RunningBroker(["--cert", files.certificateFile, "--key", files.privateKeyFile])
        let place = ["-h", host, "-p", "\(broker.port)"]
        let outcome = try await Self.doctor(place + ["--cafile", certificates.authorityFile])
        if let complaint {
            #expect(outcome.code == 8 && Self.problems(outcome).count == 1 && outcome.text.contains("-> "))
            #expect(outcome.text.contains(complaint), "\(outcome.text)")
            #expect(outcome.text.contains("certificate 1 of "), "\(outcome.text)")
            let insecure = try await Self.doctor(
                place + ["--cafile", certificates.authorityFile, "--insecure", "-n", "0"])
            // As with mosquitto's clients, `--insecure` skips only the check of the host name.
            let isAboutName = ["elsewhere", "nameless"].contains(identity)
            #expect(insecure.code == (isAboutName ? 0 : 8), "\(insecure.text)")
            #expect(insecure.text.contains("host name is not checked") == isAboutName)
        } else {
            #expect(outcome.code == 0 && outcome.text.contains("TLSv1.3"), "\(outcome.text)")
        }
        kill(try #require(broker.run.id), SIGTERM)
        _ = await broker.run.end()
    }

    @Test func `doctor reports the remaining days of each certificate, with a note if fewer than --expiry-days`()
        async throws
    {
        let certificates = try await Certificates.shared
        let files = certificates.identity("expiring")
        let broker = try await RunningBroker(["--cert", files.certificateFile, "--key", files.privateKeyFile])
        let words = broker.place + ["--cafile", certificates.authorityFile, "-n", "0"]
        let left =
            "certificate 1 of 2: CN=expiring, for localhost, 127.0.0.1; signed by CN=ca; 2020-01-01 to "
        let soon = try await Self.doctor(words)
        #expect(soon.code == 0 && soon.text.contains("note     TLS         \(left)"), "\(soon.text)")
        #expect(soon.text.contains("\(Certificates.expiringDays) days left\n"))
        #expect(soon.text.contains("-> Renew the certificate before ") && soon.text.contains("signed by itself"))
        let later = try await Self.doctor(words + ["--expiry-days", "\(Certificates.expiringDays)"])
        #expect(later.code == 0 && later.text.contains("ok       TLS         \(left)"), "\(later.text)")

        struct Report: Decodable {
            struct Certificate: Decodable {
                let subject: String
                let names: [String]
                let notBefore: Date
                let daysLeft: Int
                let isSelfSigned: Bool
            }
            let certificates: [Certificate]
        }
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        let report = try decoder.decode(
            Report.self, from: Data(try await Self.doctor(words + ["--json"]).output))
        #expect(report.certificates.map(\.subject) == ["CN=expiring", "CN=ca"])
        #expect(report.certificates.map(\.isSelfSigned) == [false, true])
        #expect(report.certificates.first?.daysLeft == Certificates.expiringDays)
        #expect(report.certificates.first?.notBefore.timeIntervalSince1970 == 1_577_836_800)
        #expect(report.certificates.first?.names == ["localhost", "127.0.0.1"])
        kill(try #require(broker.run.id), SIGTERM)
        _ = await broker.run.end()
    }

    @Test func `doctor exits with 8 if the broker requires a client certificate and none is given`() async throws {
        let certificates = try await Certificates.shared
        let broker = try await RunningBroker([
            "--cert", certificates.server.certificateFile, "--key", certificates.server.privateKeyFile, "--cafile",
            certificates.authorityFile,
        ])
        let words = broker.place + ["--cafile", certificates.authorityFile]
        let without = try await Self.doctor(words)
        #expect(without.code == 8 && without.text.contains("--cert and --key"), "\(without.text)")
        let client = certificates.identity("client")
        let with = try await Self.doctor(words + ["--cert", client.certificateFile, "--key", client.privateKeyFile])
        #expect(with.code == 0, "\(with.text)")
        kill(try #require(broker.run.id), SIGTERM)
        _ = await broker.run.end()
    }

    @Test func `doctor reports if TLS is used on a plain port or plain MQTT on a TLS port`() async throws {
        let certificates = try await Certificates.shared
        let plain = try await RunningBroker()
        let secure = try await RunningBroker([
            "--cert", certificates.server.certificateFile, "--key", certificates.server.privateKeyFile,
        ])
        let toPlain = try await Self.doctor(plain.place + ["--cafile", certificates.authorityFile])
        #expect(toPlain.code == 8 && toPlain.text.contains("without TLS"))
        let toSecure = try await Self.doctor(secure.place)
        #expect(toSecure.code == 2 && toSecure.text.contains("may need TLS"))
        for broker in [plain, secure] {
            kill(try #require(broker.run.id), SIGTERM)
            _ = await broker.run.end()
        }
    }

    @Test func `doctor gives different advice for a refused connection and an unknown host name`() async throws {
        let refused = try await Self.doctor(["-h", "127.0.0.1", "-p", "\(try LocalPort.free())"])
        #expect(refused.code == 1 && refused.text.contains("Start the broker"))
        let unknown = try await Self.doctor(["-h", "nobody.invalid"])
        #expect(unknown.code == 1 && unknown.text.contains("Correct the name (-h)"))
    }

    private static func hasIPv6() async -> Bool {
        guard let broker = try? LoopbackBroker.start(on: .tcp(host: "::1")) else { return false }
        await broker.shutdown()
        return true
    }

    @Test(.enabled("needs IPv6 on this machine") { await hasIPv6() }, arguments: ["-h", "-L"])
    func `doctor accepts an IPv6 address in brackets`(option: String) async throws {
        let broker = try LoopbackBroker.start(on: .tcp(host: "::1"))
        let place = option == "-h" ? ["-h", "[::1]", "-p", "\(broker.port)"] : ["-L", "mqtt://[::1]:\(broker.port)"]
        let outcome = try await Self.doctor(place + ["-n", "1"])
        #expect(outcome.code == 0 && Self.problems(outcome) == [], "\(outcome.text)")
        #expect(outcome.text.contains("[::1]:\(broker.port) answers"), "\(outcome.text)")
        await broker.shutdown()
    }

    @Test func `doctor gives different advice for a Unix socket without a listener and a missing socket`()
        async throws
    {
        let folder = try TemporaryFolder()
        let broker = try await RealBroker(socketPath: folder.file("s"))
        await broker.kill()
        let left = try await Self.doctor(["--unix", folder.file("s")])
        #expect(left.code == 1 && left.text.contains("No program listens on the socket"), "\(left.text)")
        let missing = try await Self.doctor(["--unix", folder.file("missing")])
        #expect(missing.code == 1 && missing.text.contains("Correct the path"), "\(missing.text)")
        await broker.remove()
    }

    @Test func `doctor advises to start the proxy if no proxy listens`() async throws {
        let proxy = "socks5h://127.0.0.1:\(try LocalPort.free())"
        let outcome = try await Self.doctor(["-h", "broker.example", "--proxy", proxy])
        #expect(outcome.code == 1 && outcome.text.contains("Start the proxy"), "\(outcome.text)")
    }

    @Test(arguments: [
        (["-W", "0"], "Invalid timeout \"0\"."), (["-n", "x"], "Invalid count \"x\"."),
        (["--will-topic", "a"], "Unknown option '--will-topic'."), (["--store", "f"], "Unknown option '--store'."),
        (["-p", "70000"], "Invalid port given: 70000"), (["--expiry-days", "-1"], "Invalid number of days \"-1\"."),
        (["-L", "ws://broker.example"], "doctor cannot examine WebSocket connections."),
        (["-L", "broker.example"], "unsupported URL scheme."),
    ])
    func `doctor refuses invalid values and unsupported options`(words: [String], message: String) {
        var settings = DoctorArguments()
        let error = #expect(throws: ArgumentError.self) {
            try ArgumentReader(DoctorArguments.groups).read(words, into: &settings)
        }
        #expect(error?.message == message)
    }

    @Test(arguments: ["mqtts://ada:secret@broker.example", "mqtts://ada:secret@broker.example:8883/some/topic"])
    func `doctor -L sets host, port, user and password, and ignores the topic`(url: String) throws {
        var settings = DoctorArguments()
        try ArgumentReader(DoctorArguments.groups).read(["-L", url], into: &settings)
        #expect(settings.connection.host == "broker.example" && settings.connection.port == 8_883)
        #expect(settings.connection.username == "ada" && settings.connection.password == "secret")
        #expect(settings.connection.isSecure && settings.connection.topics == [])
    }
}

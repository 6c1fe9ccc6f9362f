import CourierCore
import Foundation
import MQTTCodec
import Synchronization
import TestSupport
import Testing

@testable import CourierMQTT

/// The parts of a handshake that a packet observer receives.
@Suite struct PacketTapTests {
    private final class Recorder: PacketObserver {
        let batches = Mutex<[PacketBatch]>([])
        func observed(_ batch: PacketBatch) { batches.withLock { $0.append(batch) } }
        var bytes: [UInt8] { batches.withLock { $0.flatMap(\.bytes) } }
    }

    private let secret = Array("s3cret-of-the-handshake".utf8)

    private func tap(_ recorder: Recorder, _ authentication: ExtendedAuthentication? = nil) -> PacketTap {
        let options = ConnectOptions(
            host: "h", port: 1, clientId: "c", username: "", password: "", extendedAuthentication: authentication)
        return PacketTap(
            recorder,
            ObservedConnection(
                id: 1, options: options, protocolVersion: .v5, openedAt: Date(), openedInstant: ContinuousClock.now))
    }

    private func bytes(_ packets: [Packet], _ sender: Endpoint) throws -> [UInt8] {
        var buffer = PacketBuffer()
        let encoder = PacketEncoder(version: .v5, sender: sender)
        for packet in packets { try encoder.encode(packet, into: &buffer) }
        return buffer.withBytes { $0.withUnsafeBytes { Array($0) } }
    }

    private var properties: PacketProperties {
        [.authenticationMethod("m"), .authenticationData(SecretBytes(secret))]
    }

    @Test func `the password and authentication data of CONNECT are replaced by stars for observers`() throws {
        let recorder = Recorder()
        var connect = Connect(version: .v5, clientID: "c", password: SecretBytes(secret))
        connect.properties = properties
        let written = try bytes([.connect(connect), .pingReq], .client)
        tap(recorder).wrote(written.span.bytes, at: .now)
        let shown = recorder.bytes
        #expect(shown.count == written.count)
        #expect(shown.suffix(2) == written.suffix(2))
        #expect(!String(decoding: shown, as: UTF8.self).contains("s3cret"))
        #expect(shown.count { $0 == UInt8(ascii: "*") } == 2 * secret.count)
    }

    @Test func `the authentication data of AUTH and CONNACK is replaced by stars for observers`() throws {
        let recorder = Recorder()
        let message = Packet.publish(Publish(topic: "t", payload: secret, delivery: .atMostOnce))
        let read = try bytes(
            [
                .auth(Auth(reasonCode: .continueAuthentication, properties: properties)),
                .connAck(ConnAck(properties: properties)), message,
            ], .server)
        tap(recorder).read(read.span.bytes, at: .now)
        let shown = recorder.bytes
        #expect(shown.count == read.count)
        #expect(shown.count { $0 == UInt8(ascii: "*") } == 2 * secret.count)
        #expect(shown.suffix(secret.count) == secret.suffix(secret.count))
    }

    @Test(arguments: [Endpoint.client, .server])
    func `the authentication data of a later AUTH is replaced by stars at any position among other packets`(
        sender: Endpoint
    ) throws {
        let recorder = Recorder()
        let tap = tap(recorder, ExtendedAuthentication(method: "m"))
        let message = Packet.publish(Publish(topic: "t", payload: Array("shown".utf8), delivery: .atMostOnce))
        // 4.12.1: either end may send AUTH while other packets flow.
        let again = Packet.auth(
            Auth(
                reasonCode: sender == .client ? .reauthenticate : .continueAuthentication, properties: properties))
        let batch = try bytes([message, again, message, message, again, message], sender)
        if sender == .client { tap.wrote(batch.span.bytes, at: .now) } else { tap.read(batch.span.bytes, at: .now) }
        let shown = recorder.bytes
        #expect(shown.count == batch.count)
        #expect(zip(shown, batch).allSatisfy { $0 == $1 || $0 == UInt8(ascii: "*") })
        #expect(shown.count { $0 == UInt8(ascii: "*") } == 2 * secret.count)
        let text = String(decoding: shown, as: UTF8.self)
        #expect(text.components(separatedBy: "shown").count == 5)
    }

    @Test func `observers receive neither a later AUTH that cannot be decoded nor the packets after it`() throws {
        let recorder = Recorder()
        let message = try bytes([.publish(Publish(topic: "t", payload: [1], delivery: .atMostOnce))], .server)
        let broken: [UInt8] = [0xF0, UInt8(1 + secret.count), 0x18] + secret
        tap(recorder, ExtendedAuthentication(method: "m")).read((message + broken + message).span.bytes, at: .now)
        #expect(recorder.bytes == message)
    }

    @Test func `observers do not receive a CONNECT that cannot be decoded`() throws {
        let recorder = Recorder()
        let connect = Connect(version: .v5, clientID: "c", password: SecretBytes(secret))
        let written = try bytes([.connect(connect)], .client)
        tap(recorder).wrote(Array(written.dropLast(3)).span.bytes, at: .now)
        #expect(recorder.bytes.isEmpty)
    }
}

import CourierCore
import CourierTransport
import MQTTCodec
import MQTTEngine
import Testing

@testable import CourierMQTT

@Suite struct ConnectionEndingTests {
    private func ending(
        _ reason: CloseReason, _ channel: ChannelCloseReason = .closedByOwner, isEstablished: Bool = false
    ) -> ConnectionEnding {
        ConnectionEnding(reason, channel, endpoint: "broker:1883", isEstablished: isEstablished)
    }

    @Test func `the reported cause of a connection loss depends on how the transport closed`() {
        let unasked = ending(.requested, .closedByPeer, isEstablished: true)
        #expect(unasked.cause == .closedByServer)
        #expect(unasked.error.code == .connectionLost)
        #expect(ending(.requested).cause == .closedHere)
        let broken = TransportError(.reset, "reset by peer")
        #expect(ending(.transportClosed, .failed(broken)).cause == .transport(.broken))
        #expect(ending(.transportClosed, .failed(broken)).error.message == "reset by peer")
    }

    @Test
    func `after a WebSocket handshake fails with 401, the credentials are renewed, as after CONNACK notAuthorized`() {
        let refusal = ending(.transportClosed, .failed(TransportError(.webSocketUnauthorized, "answered 401")))
        #expect(refusal.cause == .refused(.notAuthorized))
        #expect(refusal.error.code == .notAuthorized)
        #expect(LossPolicy.row(for: refusal.cause).response == .renewCredentials)
    }

    @Test func `the error of a plain TCP attempt mentions the TLS port if the broker closes without CONNACK`() throws {
        for isPlain in [true, false] {
            var world = SupervisorHarness { $0.isTLSUpToOptions = isPlain }
            world.handle(.connectRequested(source: "test"))
            world.grant()
            world.handle(.closed(.versionNotSupported(next: .v311), .closedByPeer))
            let event = try #require(world.events.last { $0.isFailedAttempt })
            guard case .failed(_, .error(let error)) = event else {
                Issue.record("not a failed attempt: \(event)")
                continue
            }
            #expect(error.code == .connectionRefused)
            #expect(error.message.contains("8883") == isPlain, "\(error.message)")
        }
    }

    @Test(arguments: [
        (TransportError.Code.closedDuringHandshake, CourierError.Code.secureConnectionFailed),
        (.webSocketHandshakeFailed, .connectionFailed),
    ])
    func `a TLS or WebSocket handshake that fails is retried`(_ code: TransportError.Code, _ kind: CourierError.Code) {
        let brokenOff = ending(.transportClosed, .failed(TransportError(code, "broken off")))
        #expect(brokenOff.error.code == kind)
        #expect(LossPolicy.row(for: brokenOff.cause).response == .retry)
    }

    @Test func `the server reference is read from CONNACK and from DISCONNECT`() {
        let properties: PacketProperties = [.serverReference("other:1")]
        let refused = ending(.refused(ConnAck(reasonCode: .serverMoved, properties: properties)))
        #expect(refused.serverReference == "other:1")
        let disconnected = ending(
            .disconnectedByServer(Disconnect(reasonCode: .serverMoved, properties: properties)), isEstablished: true)
        #expect(disconnected.serverReference == "other:1")
        #expect(ending(.connectTimeout).serverReference == nil)
    }

    @Test func `an MQTT 3 return code in answer to an MQTT 5 CONNECT maps to the MQTT 5 reason code`() {
        let meanings: [(UInt8, PacketReasonCode)] = [
            (1, .unsupportedProtocolVersion), (2, .clientIdentifierNotValid), (3, .serverUnavailable),
            (4, .badUserNameOrPassword), (5, .notAuthorized),
        ]
        for (code, meaning) in meanings {
            let bytes: [UInt8] = [0x20, 0x02, 0x00, code]
            let decoder = PacketDecoder(version: .v5, sender: .server)
            do throws(DecodeError) {
                guard case .frame(let frame) = try decoder.nextFrame(in: bytes.span.bytes, at: 0) else {
                    Issue.record("no frame")
                    continue
                }
                _ = try decoder.packet(frame, in: bytes.span.bytes)
                Issue.record("return code \(code) was read as MQTT 5")
            } catch {
                #expect(ending(.malformedPacket(error)).cause == .refused(meaning))
            }
        }
    }

    @Test func `transport error codes map to loss causes`() {
        let expected: [(TransportError.Code, LossCause.TransportProblem)] = [
            (.invalidConfiguration, .configuration), (.keyMismatch, .configuration),
            (.invalidDescriptor, .configuration), (.connectionRefused, .unreachable), (.unreachable, .unreachable),
            (.tooManyDescriptors, .unreachable), (.nameResolutionFailed, .unreachable), (.hostNotFound, .unknownHost),
            (.tlsHandshakeFailed, .tls), (.tlsNotSpoken, .tls), (.tlsUnknownAuthority, .untrustedCertificate),
            (.tlsClientCertificateRejected, .untrustedCertificate),
            (.tlsClientCertificateRequired, .clientCertificateMissing), (.reset, .broken), (.truncated, .broken),
            (.systemFailure, .broken), (.loopShutDown, .loopEnded),
        ]
        for (code, problem) in expected { #expect(LossCause.TransportProblem(code) == problem, "\(code)") }
    }
}

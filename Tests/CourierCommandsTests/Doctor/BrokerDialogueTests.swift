import CourierTesting
import CourierTransport
import Foundation
import MQTTCodec
import TestSupport
import Testing

@testable import CourierCommands

struct BrokerDialogueTests {
    /// The behavior of the broker after it has accepted the connection.
    enum Behaviour: CaseIterable { case answers, keepsSilent, refuses }

    /// A broker at the other end of a stream in memory, on the client's event loop.
    ///
    /// Safe to share, because mutable state is used on the event loop only.
    private final class Peer: ChannelHandler, @unchecked Sendable {
        private static let encoder = PacketEncoder(version: .v5, sender: .server)
        private let decoder = PacketDecoder(version: .v5, sender: .client)
        private let behaviour: Behaviour
        private let clock: VirtualClock
        private let timeLimit: Duration
        private let seen: Series<Packet>
        private var channel: ByteChannel?

        init(_ behaviour: Behaviour, _ clock: VirtualClock, _ timeLimit: Duration, _ seen: Series<Packet>) {
            self.behaviour = behaviour
            self.clock = clock
            self.timeLimit = timeLimit
            self.seen = seen
        }

        func opened(_ channel: ByteChannel) { self.channel = channel }

        func closed(_ reason: ChannelCloseReason) { channel = nil }

        func received(_ bytes: RawSpan) -> Int {
            var offset = 0
            while case .frame(let frame)? = try? decoder.nextFrame(in: bytes, at: offset),
                let packet = try? decoder.packet(frame, in: bytes)
            {
                seen.append(packet)
                answer(packet)
                offset = frame.end
            }
            return offset
        }

        private func answer(_ packet: Packet) {
            switch (packet, behaviour) {
            case (.connect, _): send(.connAck(ConnAck()))
            case (.publish(let publish), .answers), (.publish(let publish), .refuses):
                guard case .atLeastOnce(let id, _) = publish.delivery else { return }
                let code: PacketReasonCode = behaviour == .refuses ? .notAuthorized : .success
                send(.pubAck(Acknowledgement(packetID: id, reasonCode: code)))
            case (.publish, .keepsSilent): clock.advance(by: timeLimit)
            default: break
            }
        }

        private func send(_ packet: Packet) {
            var buffer = PacketBuffer()
            guard (try? Self.encoder.encode(packet, into: &buffer)) != nil else { return }
            buffer.withBytes { channel?.write($0) }
        }
    }

    @Test(arguments: Behaviour.allCases)
    func `doctor sends DISCONNECT with session expiry 0 after successful and failed round trips`(behaviour: Behaviour)
        async throws
    {
        let clock = VirtualClock()
        let loop = try EventLoop(clock: clock)
        let timeLimit = Duration.seconds(10)
        let (here, there) = MemoryStream.pair()
        let seen = Series<Packet>()
        let peer = Peer(behaviour, clock, timeLimit, seen)
        loop.execute { ByteChannel.accept(there, on: loop) { _ in peer } }
        let connect = Connect(
            version: .v5, clientID: "known", properties: [.sessionExpiryInterval(86_400)])
        let question = BrokerDialogue.Question(
            connect: connect, roundTripCount: 2, topic: "courier-doctor/known", timeLimit: timeLimit)
        let answer = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(returning: BrokerDialogue.hold(question, with: .stream(here), on: loop))
            }
        }
        await loop.shutdown()
        switch behaviour {
        case .answers: #expect(answer.failure == nil && answer.roundTrips.count == 2)
        case .keepsSilent: #expect(answer.failure == .silent)
        case .refuses: #expect(answer.failure == .messageRefused(.notAuthorized))
        }
        let farewells = seen.values.compactMap { packet in
            if case .disconnect(let disconnect) = packet { disconnect } else { nil }
        }
        #expect(farewells.map(\.properties.sessionExpiryInterval) == [0])
    }
}

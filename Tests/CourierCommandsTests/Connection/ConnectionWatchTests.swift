import CourierCore
import Foundation
import Testing

@testable import CourierCommands

/// Matches refusals in observed CONNACK packets with the events that report them.
struct ConnectionWatchTests {
    /// A watch that has observed a CONNACK with this reason code.
    private static func watch(_ code: UInt8, _ version: ObservedConnection.ProtocolVersion) -> ConnectionWatch {
        let watch = ConnectionWatch()
        let options = ConnectOptions(host: "b", port: 1, clientId: "c", username: "", password: "")
        let connection = ObservedConnection(
            id: 1, options: options, protocolVersion: version, openedAt: Date(), openedInstant: .now)
        let bytes: [UInt8] = version == .v5 ? [0x20, 3, 0, code, 0] : [0x20, 2, 0, code]
        watch.observed(PacketBatch(direction: .incoming, bytes: bytes, time: .now, connection: connection))
        return watch
    }

    @Test(
        arguments: [
            (0x85, .v5, .clientIdentifierNotValid), (2, .v311, .clientIdentifierNotValid), (5, .v311, .notAuthorized),
        ] as [(UInt8, ObservedConnection.ProtocolVersion, ReasonCode)])
    func `takeRefusal() returns a refused CONNACK once, and only for the reason code of this CONNACK`(
        code: UInt8, version: ObservedConnection.ProtocolVersion, reason: ReasonCode
    ) {
        let watch = Self.watch(code, version)
        // A late event of the previous attempt gets no refusal.
        #expect(watch.takeRefusal(.unsupportedProtocolVersion) == nil)
        #expect(watch.takeRefusal(nil) == nil)
        #expect(watch.takeRefusal(reason)?.code == code)
        #expect(watch.takeRefusal(reason) == nil)
    }

    @Test(
        arguments: [
            (.connectionRefused, .clientIdentifierNotValid, false, 2), (.notAuthorized, .notAuthorized, false, 5),
            (.connectionRefused, .clientIdentifierNotValid, true, 0x85),
            (.connectionRefused, .quotaExceeded, false, nil),
            (.connectionLost, .notAuthorized, true, nil), (.connectionRefused, nil, true, nil),
        ] as [(CourierError.Code, ReasonCode?, Bool, UInt8?)])
    func `a refusal created from a CourierError has the CONNACK code of the client's MQTT version`(
        code: CourierError.Code, reason: ReasonCode?, isVersion5: Bool, refusal: UInt8?
    ) {
        let error = CourierError(code, "No.", reasonCode: reason)
        #expect(ConnectionWatch.Refusal(error, isVersion5: isVersion5)?.code == refusal)
    }
}

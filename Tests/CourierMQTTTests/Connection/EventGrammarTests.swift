import CourierCore
import Foundation
import Testing

@Suite struct EventGrammarTests {
    private func violations(_ events: CourierEventType...) -> [Int] {
        EventGrammar.violations(in: events).map(\.index)
    }

    private let failure = CourierError(.connectionLost, "lost")

    @Test func `the grammar finds no violation in the events of a complete client life cycle`() {
        var grammar = EventGrammar()
        let life: [CourierEventType] = [
            .connectionServiceAuthStart, .connectDiscarded(reason: "twice"), .messageStoreFailure(error: failure),
            .connectionServiceAuthFailure(timeTaken: 1, error: nil), .connectionUnavailable,
            .reconnect, .connectionServiceAuthStart, .connectionServiceAuthSuccess(timeTaken: 1), .connectionAvailable,
            .connectionAttempt, .connectedPacketSent, .connectionFailure(timeTaken: 1, error: failure),
            .reconnect, .connectionAttempt, .connectedPacketSent, .connectionSuccess(timeTaken: 1),
            .subscribeAttempt(topics: ["a", "b"]), .ping(url: "u"), .messageSend(topic: "t", qos: .one, sizeBytes: 3),
            .subscribeSuccess(topics: [("a", .one)], timeTaken: 1),
            .subscribeFailure(topics: [("b", .one)], timeTaken: 1, error: failure),
            .messageReceive(topic: "a", sizeBytes: 1), .deliveryDowngraded(from: .two, to: .one),
            .messageReceiveFailure(topic: "a", error: failure, sizeBytes: 1),
            .pingFailure(timeTaken: 1, error: failure),
            .connectionLost(timeTaken: 1, error: failure, diffLastInbound: 1, diffLastOutbound: nil),
            .reconnect, .connectionAttempt, .connectedPacketSent, .connectionSuccess(timeTaken: 1),
            .messageSendSuccess(topic: "t", qos: .one, sizeBytes: 3, data: Data()),
            .unsubscribeAttempt(topics: ["a"]), .ping(url: "u"), .pongReceived(timeTaken: 1),
            .unsubscribeSuccess(topics: ["a"], timeTaken: 1), .appBackground, .connectionDisconnect, .appForeground,
            .messageSendFailure(
                topic: "#", qos: .two, error: CourierError(.invalidTopicName, "wildcard"), sizeBytes: 0),
            .courierDisconnect(clearState: false),
        ]
        for event in life { grammar.record(event) }
        #expect(grammar.violations == [])
        #expect(grammar.openStarts == [])
    }

    @Test func `after eventsDropped, message events need neither a start event nor an end event`() {
        let success = CourierEventType.messageSendSuccess(topic: "t", qos: .one, sizeBytes: 3, data: Data())
        #expect(violations(success) == [0])
        #expect(violations(.eventsDropped(count: 1), success) == [])
        #expect(violations(.eventsDropped(count: 0)) == [0])
        var grammar = EventGrammar()
        for event in [.messageSend(topic: "t", qos: .one, sizeBytes: 3), .eventsDropped(count: 1)] as [CourierEventType]
        {
            grammar.record(event)
        }
        #expect(grammar.openStarts == [])
    }

    @Test func `the event grammar reports the index of each event that breaks a rule`() {
        #expect(violations(.connectionServiceAuthStart, .connectionServiceAuthStart) == [1])
        #expect(violations(.connectionServiceAuthSuccess(timeTaken: 1)) == [0])
        #expect(violations(.connectionAttempt, .connectionServiceAuthStart) == [1])
        #expect(violations(.connectionServiceAuthStart, .connectionAttempt) == [1])
        #expect(violations(.connectionAttempt, .connectionAttempt) == [1])
        #expect(violations(.connectionAttempt, .connectedPacketSent, .connectedPacketSent) == [2])
        #expect(violations(.connectionSuccess(timeTaken: 1)) == [0])
        #expect(violations(.connectionFailure(timeTaken: 1, error: nil)) == [0])
        #expect(violations(.connectionAttempt, .connectionDisconnect) == [1])
        let lost = CourierEventType.connectionLost(
            timeTaken: 1, error: nil, diffLastInbound: nil, diffLastOutbound: nil)
        #expect(violations(.connectionAttempt, .connectionSuccess(timeTaken: 1), lost, .connectionDisconnect) == [3])
        #expect(violations(.reconnect, .appBackground, .connectionAttempt) == [1])
        #expect(violations(.ping(url: "")) == [0])
        #expect(violations(.pongReceived(timeTaken: 1)) == [0])
        #expect(
            violations(.connectionAttempt, .connectionSuccess(timeTaken: 1), .ping(url: ""), .ping(url: "")) == [3])
        #expect(violations(.connectionAttempt, .connectionSuccess(timeTaken: 1), .ping(url: ""), lost) == [3])
        #expect(violations(.subscribeAttempt(topics: ["a"])) == [0])
        #expect(violations(.subscribeSuccess(topics: [("a", .zero)], timeTaken: 1)) == [0])
        #expect(violations(.unsubscribeSuccess(topics: ["a"], timeTaken: 1)) == [0])
        #expect(
            violations(
                .connectionAttempt, .connectionSuccess(timeTaken: 1), .subscribeAttempt(topics: ["a"]),
                .unsubscribeAttempt(topics: ["b"]), .connectionDisconnect) == [4, 4])
        #expect(violations(.messageSendSuccess(topic: "t", qos: .zero, sizeBytes: 1, data: Data())) == [0])
        #expect(violations(.messageReceive(topic: "t", sizeBytes: 1)) == [0])
        #expect(violations(.appForeground, .appForeground) == [1])
        #expect(violations(.connectionUnavailable, .connectionUnavailable) == [1])
    }

    @Test func `a failure event without a start event is valid only if the client itself refused the request`() {
        func sent(_ code: CourierError.Code) -> CourierEventType {
            .messageSendFailure(topic: "t", qos: .one, error: CourierError(code, "over"), sizeBytes: 1)
        }
        let send = CourierEventType.messageSend(topic: "t", qos: .one, sizeBytes: 1)
        #expect(violations(sent(.invalidTopicName)) == [])
        #expect(violations(.messageSendFailure(topic: "t", qos: .one, error: nil, sizeBytes: 1)) == [0])
        for code in [
            CourierError.Code.clientDestroyed, .messageExpired, .messageReplaced, .messageWithdrawn, .queueFull,
            .connectionLost,
            .publishRefused,
        ] {
            #expect(violations(send, sent(code)) == [], "\(code)")
            #expect(violations(send, sent(.connectionLost), sent(code)) == [2], "\(code)")
        }

        func subscribed(_ code: CourierError.Code) -> CourierEventType {
            .subscribeFailure(topics: [("a", .one)], timeTaken: 1, error: CourierError(code, "over"))
        }
        func unsubscribed(_ code: CourierError.Code) -> CourierEventType {
            .unsubscribeFailure(topics: ["a"], timeTaken: 1, error: CourierError(code, "over"))
        }
        for code in [CourierError.Code.invalidTopicFilter, .queueFull] {
            #expect(violations(subscribed(code), unsubscribed(code)) == [], "\(code)")
        }
        func refused(_ code: ReasonCode) -> CourierEventType {
            .subscribeFailure(
                topics: [("a", .one)], timeTaken: 0,
                error: CourierError(.subscriptionRefused, "over", reasonCode: code))
        }
        #expect(violations(refused(.packetTooLarge), refused(.wildcardSubscriptionsNotSupported)) == [])
        #expect(violations(refused(.sharedSubscriptionsNotSupported), refused(.topicFilterInvalid)) == [1])
        for code in [CourierError.Code.subscriptionRefused, .connectionLost] {
            #expect(violations(subscribed(code), unsubscribed(code)) == [0, 1], "\(code)")
            #expect(
                violations(
                    .connectionAttempt, .connectionSuccess(timeTaken: 1), .subscribeAttempt(topics: ["a"]),
                    subscribed(.connectionLost), subscribed(code)) == [4], "\(code)")
        }
    }

    @Test
    func `messageReceiveFailure follows messageReceive, except with a store, an invalid filter or a large message`() {
        func failed(_ code: CourierError.Code) -> CourierEventType {
            .messageReceiveFailure(topic: "t", error: CourierError(code, "over"), sizeBytes: 1)
        }
        func received(_ topic: String) -> [CourierEventType] {
            [.connectionAttempt, .connectionSuccess(timeTaken: 1), .messageReceive(topic: topic, sizeBytes: 1)]
        }
        func indices(_ events: [CourierEventType]) -> [Int] { EventGrammar.violations(in: events).map(\.index) }
        #expect(indices(received("t") + [failed(.decodingFailed), failed(.noReader)]) == [])
        #expect(indices(received("other") + [failed(.decodingFailed)]) == [3])
        #expect(indices([failed(.noReader)]) == [0])
        #expect(indices([failed(.invalidTopicFilter), failed(.malformedPacket)]) == [])
        var grammar = EventGrammar(hasStore: true)
        grammar.record(failed(.decodingFailed))
        #expect(grammar.violations.isEmpty)
    }

    @Test func `the event grammar lists each start event that has no end event`() {
        var grammar = EventGrammar()
        for event in [
            CourierEventType.connectionAttempt, .connectionSuccess(timeTaken: 1), .ping(url: ""),
            .subscribeAttempt(topics: ["a"]), .unsubscribeAttempt(topics: ["b"]),
            .messageSend(topic: "t", qos: .one, sizeBytes: 1), .messageSend(topic: "t", qos: .one, sizeBytes: 1),
            .connectionServiceAuthStart,
        ] { grammar.record(event) }
        #expect(
            grammar.openStarts == [
                "connectionServiceAuthStart", "connectionSuccess", "messageSend t", "messageSend t", "ping",
                "subscribeAttempt a", "unsubscribeAttempt b",
            ])
    }
}

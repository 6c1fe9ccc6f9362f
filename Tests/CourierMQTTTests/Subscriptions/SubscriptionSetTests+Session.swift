import CourierCore
import TestSupport
import Testing

@testable import CourierMQTT

/// Filters that an earlier process, or another client, may have left in the broker's session.
extension SubscriptionSetTests {
    @Test func `UNSUBSCRIBE is sent for a filter that an earlier process may have left in the session`() throws {
        var set = SubscriptionSet()
        _ = set.connected(sessionPresent: true, now: start)
        let asked = try set.unwant([(a, 1)], by: .app, now: start)
        #expect(visible(asked) == [.unsubscribe([a], request(1))])
        #expect(
            visible(set.unsubAck(request(1), [.noSubscriptionExisted], now: start)) == [
                .waiter(1, .unsubscribed), .unsubscribeSucceeded([a], timeTaken: .zero),
            ])
        #expect(set.count == 0)
        // The session ends. The next session has only the subscriptions of this set.
        _ = set.connected(sessionPresent: false, now: start)
        #expect(try set.unwant([(a, 2)], by: .app, now: start) == [.waiter(2, .unsubscribed)])
        _ = set.connected(sessionPresent: true, now: start)
        #expect(try set.unwant([(a, 3)], by: .app, now: start) == [.waiter(3, .unsubscribed)])
        _ = set.connected(sessionPresent: true, isOtherSession: true, now: start)
        #expect(visible(try set.unwant([(a, 4)], by: .app, now: start)) == [.unsubscribe([a], request(2))])
    }

    @Test func `no UNSUBSCRIBE is sent for a reader whose filter was never subscribed`() throws {
        var set = SubscriptionSet()
        #expect(try set.unwant([(a, nil)], by: .reader(1), now: start).isEmpty)
        _ = try set.want([.init(b, .one)], by: .reader(1), now: start)
        _ = try set.unwant([(b, nil)], by: .reader(1), now: start)
        #expect(visible(set.connected(sessionPresent: true, now: start)).isEmpty)
    }

    @Test func `a filter that is unsubscribed while a reader uses it is not restored from the store`() throws {
        var set = SubscriptionSet()
        _ = try set.want([.init(a, .one)], by: .reader(1), now: start)
        #expect(visible(try set.unwant([(a, 1)], by: .app, now: start)) == [.waiter(1, .unsubscribed)])
        _ = set.restore([StoredSubscription(a, .subscribed(.two))])
        #expect(set.wanted(a) == .one)
    }

    @Test func `filters whose UNSUBACK is missing count toward the limit until the broker has a new session`() throws {
        var set = SubscriptionSet(limits: SubscriptionLimits(maximumFilters: 1))
        _ = try set.unwant([(a, 1)], by: .app, now: start)
        _ = try set.unwant([(a, 2)], by: .app, now: start)
        expectCourierError(.queueFull, "at most 1 are allowed") { try set.unwant([(b, 3)], by: .app, now: start) }
        #expect(set.count == 1)
        _ = set.connected(sessionPresent: false, now: start)
        #expect(set.count == 0)
    }
}

/// The members of one shared subscription. Each message is sent to one of them.
struct ShareGroup: Sendable {
    private struct Member: Sendable {
        let session: SessionID
        var options: SubscriptionTree.Options
    }

    private var members: [Member] = []
    /// The index of the member that gets the next message.
    private var turn = 0

    var isEmpty: Bool { members.isEmpty }

    /// Adds a member, or replaces its options.
    ///
    /// - Returns: `true` if the member is new.
    mutating func insert(_ session: SessionID, _ options: SubscriptionTree.Options) -> Bool {
        if let index = members.firstIndex(where: { $0.session == session }) {
            members[index].options = options
            return false
        }
        members.append(Member(session: session, options: options))
        return true
    }

    /// Removes a member. The order of the other members does not change.
    ///
    /// - Returns: `true` if the session was a member.
    mutating func remove(_ session: SessionID) -> Bool {
        guard let index = members.firstIndex(where: { $0.session == session }) else { return false }
        members.remove(at: index)
        if index < turn { turn -= 1 }
        return true
    }

    /// Returns the next member that satisfies `isPreferred`. If no member satisfies `isPreferred`, returns the next
    /// member of all. Returns `nil` if there are no members.
    mutating func next(
        preferring isPreferred: (SessionID) -> Bool
    ) -> (session: SessionID, options: SubscriptionTree.Options)? {
        guard !members.isEmpty else { return nil }
        let inTurn = (0..<members.count).lazy.map { [turn, members] in (turn + $0) % members.count }
        let chosen = inTurn.first { [members] in isPreferred(members[$0].session) } ?? turn % members.count
        turn = (chosen + 1) % members.count
        return (members[chosen].session, members[chosen].options)
    }
}

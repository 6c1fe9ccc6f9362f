/// The members of one shared subscription, of whom each message goes to one.
struct ShareGroup: Sendable {
    private struct Member: Sendable {
        let session: SessionID
        var options: SubscriptionTree.Options
    }

    private var members: [Member] = []
    /// Whose turn it is.
    private var turn = 0

    var isEmpty: Bool { members.isEmpty }

    /// Adds a member, or replaces its options.
    ///
    /// - Returns: Whether it is new.
    mutating func insert(_ session: SessionID, _ options: SubscriptionTree.Options) -> Bool {
        if let index = members.firstIndex(where: { $0.session == session }) {
            members[index].options = options
            return false
        }
        members.append(Member(session: session, options: options))
        return true
    }

    /// Removes a member; the turns of the others stay in order.
    ///
    /// - Returns: Whether it was one.
    mutating func remove(_ session: SessionID) -> Bool {
        guard let index = members.firstIndex(where: { $0.session == session }) else { return false }
        members.remove(at: index)
        if index < turn { turn -= 1 }
        return true
    }

    /// Chooses the next member in turn for whom `isPreferred`, or the next one at all where there is none.
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

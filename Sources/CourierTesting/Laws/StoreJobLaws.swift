import CourierCore
import Foundation

/// The laws about jobs, which are received messages that a processor must handle. They concern only stores that keep
/// jobs.
enum StoreJobLaws {
    static func jobsAreKept(_ probe: StoreProbe) async throws {
        guard probe.store.keepsJobs else { return }
        let since = StoreTime(date: StoreProbe.moment, bootTime: BootTime(bootID: UUID(), sinceBoot: .seconds(7)))
        let waiting = StoredJob.State(processor: "orders", stage: .waiting(.seconds(3), since: since))
        let parked = StoredJob.State(
            processor: "bills", deduplicationKey: "7", attempts: 5, lastError: "No paper.",
            stage: .parked(at: StoreProbe.moment))
        let messages = (1...4).map { StoreProbe.message($0) }
        try await probe.commit(
            .addJob(StoredJob(messages[3], waiting)), .addJob(StoredJob(messages[0], waiting)),
            .addJob(StoredJob(messages[1], parked)), .keep(messages[2]))
        try require(
            "the jobs", try await probe.jobs(),
            is: [
                StoredJob(messages[0], waiting), StoredJob(messages[1], parked), StoredJob(messages[3], waiting),
            ])
        try require("the first job", try await probe.jobs(limit: 1).map(\.message.id.rawValue), is: [1])
        try require("the jobs after id 1", try await probe.jobs(after: 1).map(\.message.id.rawValue), is: [2, 4])
        let one = try await probe.store.job(StoreProbe.id(2), in: probe.scope)
        try require("the job with id 2", one, is: StoredJob(messages[1], parked))
        let none = try await probe.store.job(StoreProbe.id(3), in: probe.scope)
        try require("the result for a job that does not exist", none, is: nil)
        try require(
            "the incoming messages in a store with jobs", try await probe.incoming().map(\.id.rawValue), is: [3])
        try require("the last id", try await probe.summary().lastMessageID, is: StoreProbe.id(4))

        try await probe.commit(
            .updateJob(StoreProbe.id(1), parked), .updateJob(StoreProbe.id(9), parked), .removeJob(StoreProbe.id(4)),
            .removeJob(StoreProbe.id(3)), .removeIncoming(StoreProbe.id(1)))
        try require(
            "the jobs after changes", try await probe.jobs(),
            is: [StoredJob(messages[0], parked), StoredJob(messages[1], parked)])
        try await probe.commit(.removeAll)
        try require("the jobs after removeAll", try await probe.jobs(), is: [])
    }

    static func processedKeysAreKept(_ probe: StoreProbe) async throws {
        guard probe.store.keepsJobs else { return }
        let early = StoreTime(date: StoreProbe.moment)
        let late = StoreTime(date: StoreProbe.moment + 9, bootTime: BootTime(bootID: UUID(), sinceBoot: .seconds(7)))
        func key(_ key: String, _ time: StoreTime, of processor: String = "orders") -> ProcessedKey {
            ProcessedKey(processor: processor, key: key, handledAt: time)
        }
        try await probe.commit(
            .rememberKey(key("1", early)), .rememberKey(key("2", early)), .rememberKey(key("1", early, of: "bills")),
            .rememberKey(key("1", late)))
        try require("the keys", try await probe.keys(of: "orders"), is: [key("1", late), key("2", early)])
        try await probe.commit(.forgetKeys(processor: "orders", keys: ["2", "3"]))
        try require("the keys after a removal", try await probe.keys(of: "orders"), is: [key("1", late)])
        let other = try await probe.keys(of: "bills")
        try require("the keys of another processor", other, is: [key("1", early, of: "bills")])
        try await probe.commit(.removeAll)
        try require("the keys after removeAll", try await probe.keys(of: "orders"), is: [])
    }
}

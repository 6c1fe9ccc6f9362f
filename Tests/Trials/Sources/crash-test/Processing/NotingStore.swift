import CourierCore
import Foundation
import Synchronization

/// A store that notes which jobs it stores, parks and removes.
final class NotingStore: ForwardingStore {
    let store: any MessageStore
    private let notes: NoteFile
    private let life: Int
    /// The messages of the jobs that this process has stored or found.
    private let messages = Mutex<[StoredMessage.ID: JobMessage]>([:])

    init(_ store: any MessageStore, _ notes: NoteFile, life: Int) {
        self.store = store
        self.notes = notes
        self.life = life
    }

    func commit(
        _ changes: [StoreChange], in scope: StoreScope,
        completion: @escaping @Sendable (Result<Void, CourierError>) -> Void
    ) {
        let (before, after) = notes(of: changes)
        notes.add(before)
        store.commit(changes, in: scope) { [notes] result in
            if case .success = result { notes.add(after) }
            completion(result)
        }
    }

    func jobs(in scope: StoreScope, after id: StoredMessage.ID?, limit: Int) async throws -> [StoredJob] {
        let jobs = try await store.jobs(in: scope, after: id, limit: limit)
        // Two processors read the same jobs. Neither may continue before the jobs that the other found are noted.
        messages.withLock { messages in
            var found: [JobNote] = []
            for job in jobs {
                guard let message = message(of: job) else { continue }
                let isNew = messages.updateValue(message, forKey: job.message.id) == nil
                if isNew { found.append(JobNote(job.state.isParked ? .foundParked : .found, message, life: life)) }
            }
            notes.add(found)
        }
        return jobs
    }

    /// Returns the notes to add before the changes are stored, and afterwards.
    private func notes(of changes: [StoreChange]) -> (before: [JobNote], after: [JobNote]) {
        var (before, after): ([JobNote], [JobNote]) = ([], [])
        for (index, change) in changes.enumerated() {
            switch change {
            case .addJob(let job):
                guard let message = message(of: job) else { continue }
                messages.withLock { $0[job.message.id] = message }
                // The packet id of a job follows directly.
                let next = index + 1 < changes.count ? changes[index + 1] : nil
                let packetID: UInt16 = if case .rememberPacketID(let id)? = next { id } else { 0 }
                before.append(JobNote(.storing, message, life: life, packetID: packetID))
                if job.state.isParked { after.append(JobNote(.parked, message, life: life)) }
            case .updateJob(let id, let state):
                guard state.isParked, let message = messages.withLock({ $0[id] }) else { continue }
                after.append(JobNote(.parked, message, life: life))
            case .removeJob(let id):
                guard let message = messages.withLock({ $0[id] }) else { continue }
                after.append(JobNote(.recorded, message, life: life))
            default: continue
            }
        }
        return (before, after)
    }

    private func message(of job: StoredJob) -> JobMessage? {
        let message = JobMessage(topic: job.message.topic, payload: Data(job.message.payload))
        if message == nil { WorkerLine.trouble("a job in the store is damaged: \(job.message.topic)").report() }
        return message
    }
}

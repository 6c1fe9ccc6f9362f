import Dispatch
import Foundation
import Glibc
import TrialSupport

/// The longest time of a run.
struct TimeLimit {
    let seconds: Int

    /// Ends the program if the run takes longer.
    func watch(_ broker: RealBroker, _ journal: Journal, _ folder: TemporaryFolder) {
        DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(seconds)) {
            journal.flush()
            if let id = broker.processID { Glibc.kill(id, SIGKILL) }
            folder.keep()
            print("crash-test: the run does not come to its end; see \(folder.path)")
            exit(1)
        }
    }
}

import CourierCore
import Foundation

/// Replaces a damaged file by a new file with all rows that can be recovered.
extension StoreOpening {
    func recover(from obstacle: Obstacle) throws(CourierError) -> StoreRecovery {
        let error = error(obstacle)
        var saved = 0
        switch obstacle {
        case .other: throw error
        case .damaged, .foreign:
            do throws(SQLiteFailure) {
                let salvage = Salvage(opening: self)
                if case .damaged = obstacle { saved = try salvage.run() } else { try salvage.makeEmpty() }
            } catch {
                files.removeUnfinishedRecovery()
                throw error.courierError(path: files.recovering)
            }
        }
        try files.completeRecovering()
        let aside = try files.replaceByRecovered()
        return StoreRecovery(
            quarantinedFile: URL(fileURLWithPath: aside), savedRows: saved,
            error: CourierError(
                .storeDamaged,
                "\(error.message) The file was renamed to \(aside); \(saved) of its rows are in the new file.",
                cause: error.cause))
    }

    func error(_ obstacle: Obstacle) -> CourierError {
        switch obstacle {
        case .damaged(let failure): failure.courierError(path: files.path)
        case .foreign(let applicationID):
            CourierError(
                .storeDamaged,
                "The file \(files.path) is a database of another application (\(applicationID)), not a message store.")
        case .other(let error): error
        }
    }
}

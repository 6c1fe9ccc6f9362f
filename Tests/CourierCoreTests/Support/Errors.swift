import CourierCore
import Testing

/// Expects a ``CourierError`` of this code, and gives it for a look at its text.
@discardableResult
func expectError<Result>(
    _ code: CourierError.Code, sourceLocation: SourceLocation = #_sourceLocation, from body: () throws -> Result
) -> CourierError? {
    do {
        _ = try body()
        Issue.record("no error, expected \(code)", sourceLocation: sourceLocation)
        return nil
    } catch let error as CourierError {
        #expect(error.code == code, sourceLocation: sourceLocation)
        return error
    } catch {
        Issue.record("\(error), expected \(code)", sourceLocation: sourceLocation)
        return nil
    }
}

import Stations

extension SignallingError {
    /// Runs `body`, and throws a station's error as clients get it.
    static func translating<Value>(_ body: () throws(StationError) -> Value) throws(SignallingError) -> Value {
        do throws(StationError) {
            return try body()
        } catch {
            throw .station(error)
        }
    }
}

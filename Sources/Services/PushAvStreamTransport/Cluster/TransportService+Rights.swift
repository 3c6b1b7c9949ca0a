import Dispatch
import Transport

/// Connections end with the rights of the principals that made them.
extension TransportService {
    /// Ends the connections of a principal on the cameras whose footage it may no longer have, also on those that are away.
    /// When it returns, nothing begins on them, their recordings are ending, and the observers know of it. It is in force
    /// whether the disk takes it or not.
    /// - Returns: the cameras that had such connections.
    public func endConnections(
        of principal: String, unless mayHaveFootage: @escaping @Sendable (_ device: String) -> Bool
    ) async -> [String] {
        await withCheckedContinuation { continuation in
            queue.async {
                let devices = self.state.withLock { $0.cameras.keys.sorted() }
                continuation.resume(
                    returning: devices.filter { device in
                        self.endConnections(on: device) { $0 != principal || mayHaveFootage(device) }
                    })
            }
        }
    }

    /// Ends the connections of a camera whose principals may no longer have its footage.
    /// - Returns: whether there were any.
    @discardableResult
    func endConnections(on device: String, unless mayKeep: (_ owner: String) -> Bool) -> Bool {
        guard let camera = state.withLock({ $0.cameras[device] }) else { return false }
        var table = camera.table
        let ended = table.end(unless: mayKeep)
        guard !ended.isEmpty else { return false }
        adopt(table, of: device)
        // The recordings end before what waits for its upload is discarded.
        if camera.isPresent { synchronize(device) }
        report(.rightsEnded(device: device, connections: ended))
        if camera.isPresent { report(.connections(device: device)) }
        return true
    }
}

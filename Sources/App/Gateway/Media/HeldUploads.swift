import PushAvStreamTransport

/// The uploads of principals whose tokens could not be read at the start, and of connections that could not be read.
///
/// Their right to the footage may have ended, and the server is one that they have named. So nothing of their connections
/// leaves until their right is known, and nothing is discarded either: they may have it still. A connection that is
/// deallocated or expires meanwhile takes nothing out of this.
struct HeldUploads: Sendable {
    private struct Key: Hashable, Sendable {
        var device: String
        var connection: UInt16
    }

    private let owners: [Key: String]
    /// What is known of the cameras whose earlier connections cannot be read.
    private let lost: [String: ConnectionTable]
    private let isUnknown: @Sendable (_ principal: String) -> Bool

    /// - Parameters:
    ///   - connections: the connections at the start, by their devices. A principal whose token cannot be read makes none.
    ///   - lost: the cameras whose earlier connections cannot be read, with their tables at the start.
    ///   - isUnknown: whether it is not known what a principal may do.
    init(
        _ connections: [String: [TransportConnection]], lost: [String: ConnectionTable] = [:],
        isUnknown: @escaping @Sendable (_ principal: String) -> Bool
    ) {
        var owners: [Key: String] = [:]
        for (device, connections) in connections {
            for connection in connections {
                guard let owner = connection.owner, isUnknown(owner) else { continue }
                owners[Key(device: device, connection: connection.id)] = owner
            }
        }
        self.owners = owners
        self.lost = lost
        self.isUnknown = isUnknown
    }

    /// Why nothing of a connection may be uploaded now, in words for the owner; nil when it may.
    func reason(connection: UInt16, device: String) -> String? {
        if let table = lost[device], table.connection(connection) == nil, table.mayHaveLost(connection) {
            return "the connection that this was recorded for cannot be read, so it is not known who may have it; the "
                + "alarm recordingConnectionsLost says what to do"
        }
        guard let owner = owners[Key(device: device, connection: connection)], isUnknown(owner) else { return nil }
        return "the token of \(owner) cannot be read, so nothing is uploaded for it; restore the token, or revoke it"
    }
}

import HomeTypes

/// The number of the newest CMAF session of a session group, and what has been recorded under it. Connections of one
/// principal's session group that record at the same time share the number (Matter 1.5, Push AV Stream Transport).
///
/// Deviation: a connection shares it only if none of its objects can take the place of another one at the receiver. A
/// connection that has used the number takes a new one for its next recording, and so does one with the address of another.
struct SharedSession: Sendable {
    let number: UInt64
    private var uses: [(connection: UInt16, options: TransportOptions)] = []

    init(number: UInt64) { self.number = number }

    /// Whether a connection may record under the number.
    func admits(_ connection: TransportConnection) -> Bool {
        uses.allSatisfy { $0.connection != connection.id && !$0.options.collides(with: connection.options) }
    }

    /// A connection records under the number.
    mutating func add(_ connection: TransportConnection) {
        uses.append((connection.id, connection.options))
    }
}

extension TransportOptions {
    /// Whether two sessions of one number would have objects with the same address.
    fileprivate func collides(with other: TransportOptions) -> Bool {
        guard tlsEndpointID != 0, other.tlsEndpointID != 0, url.lowercased() == other.url.lowercased() else {
            return false
        }
        // Interface 1 has no manifest, which would be at the same place for all tracks of a session.
        let isPlain = [self, other].allSatisfy {
            $0.containerOptions.cmafContainerOptions?.cmafInterface == .interface1
        }
        return !isPlain || !Set(trackNames).isDisjoint(with: other.trackNames)
    }

    private var trackNames: [String] {
        ((videoStreams ?? []).map(\.videoStreamName) + (audioStreams ?? []).map(\.audioStreamName))
            .map { $0.lowercased() }
    }
}

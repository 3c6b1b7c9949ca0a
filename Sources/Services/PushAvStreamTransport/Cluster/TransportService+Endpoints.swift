import Dispatch
import HomeTypes
import Transport

/// Connections use endpoints.
extension TransportService: UploadEndpointUsers {
    /// Whether a connection of any camera uses an endpoint, which can then not be deleted. A camera that the home has lost
    /// does not count.
    public func usesEndpoint(_ endpoint: UInt16) -> Bool {
        state.withLock { state in
            state.cameras.values.contains { camera in
                camera.table.removedAt == nil
                    && camera.table.connections.contains { $0.options.tlsEndpointID == endpoint }
            }
        }
    }

    public func uses(_ endpoint: UInt16) -> Bool {
        state.withLock { state in
            state.cameras.values.contains { camera in
                camera.table.connections.contains { $0.options.tlsEndpointID == endpoint }
            }
        }
    }

    public func giveUp(_ endpoint: UInt16) -> Bool {
        // After the commands that came before, so that none of them names it later.
        queue.sync {
            guard !usesEndpoint(endpoint) else { return false }
            state.withLock { state in
                state.givenUp.insert(endpoint)
                state.adoptEndpoints()
            }
            return true
        }
    }

    public func takeBack(_ endpoint: UInt16) {
        queue.sync {
            state.withLock { state in
                state.givenUp.remove(endpoint)
                state.adoptEndpoints()
            }
        }
    }

    /// A camera that is away has no connections to an endpoint that was deleted: another endpoint may get its number.
    func endConnectionsOfAbsentCameras(exceptTo endpoints: Set<UInt16>) {
        for (device, camera) in state.withLock({ $0.cameras }) where camera.table.removedAt != nil {
            var table = camera.table
            table.connections.removeAll {
                $0.options.tlsEndpointID != 0 && !endpoints.contains($0.options.tlsEndpointID)
            }
            if table != camera.table { adopt(table, of: device) }
        }
    }
}

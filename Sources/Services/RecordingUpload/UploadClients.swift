import PushAvStreamTransport
import Transport

/// The clients of all endpoints. One whose endpoint was replaced is ended when the next upload begins.
final class UploadClients: Sendable {
    /// Why there is no client.
    struct Unavailable: Error, CustomStringConvertible {
        var description: String
    }

    private let endpoint: @Sendable (UInt16) -> UploadEndpoint?
    /// Says of an endpoint that there is not why.
    private let missing: @Sendable (UInt16) -> String
    private let deadlines: UploadDeadlines
    private let clients = Locked<[UInt16: UploadClient]>([:])

    init(
        endpoint: @escaping @Sendable (UInt16) -> UploadEndpoint?, missing: @escaping @Sendable (UInt16) -> String,
        deadlines: UploadDeadlines
    ) {
        self.endpoint = endpoint
        self.missing = missing
        self.deadlines = deadlines
    }

    /// The client for an endpoint as it is now.
    func client(for id: UInt16) throws -> UploadClient {
        guard let endpoint = endpoint(id) else {
            throw Unavailable(description: missing(id))
        }
        let (client, replaced) = try clients.withLock { clients -> (UploadClient, UploadClient?) in
            if let client = clients[id], client.endpoint == endpoint { return (client, nil) }
            let client: UploadClient
            do {
                client = try UploadClient(endpoint, deadlines: deadlines)
            } catch {
                throw Unavailable(description: "the material of the endpoint \(endpoint.name) cannot be used: \(error)")
            }
            defer { clients[id] = client }
            return (client, clients[id])
        }
        // Attempts of the old one fail, and are made again with the new one.
        if let replaced { Task { await replaced.shutDown() } }
        return client
    }

    /// Ends all clients.
    func shutDown() async {
        let all = clients.withLock { clients in
            defer { clients = [:] }
            return Array(clients.values)
        }
        for client in all { await client.shutDown() }
    }
}

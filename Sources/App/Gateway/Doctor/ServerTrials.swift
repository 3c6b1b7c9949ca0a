import DatagramPort
import MediaRelay
import STUN
import TURN
import Transport

/// Tries the STUN and TURN servers of the config, all at once, each on a thread of its own.
struct ServerTrials: Sendable {
    /// The most servers of one list that are tried.
    static let maximum = 16

    /// How long a name, and then each address of a server, may take.
    var patience: Duration

    /// Tries the servers that viewers are given, with the credentials that viewers get.
    func viewerServers(_ servers: [GatewayConfiguration.ICEServer]) async -> [TriedServer] {
        await inOrder(servers) { await tried($0) }
    }

    /// Tries the servers that may relay for the gateway.
    /// - Parameter inUse: what the gateway knows of the one that it uses. That one is not tried: it would have to relay twice.
    func relays(_ servers: [GatewayConfiguration.Network.TURNServer], inUse: TURNState?) async -> [TriedServer] {
        await inOrder(servers) { server in
            // Of two users of one server, nothing says which one is in use.
            let isOnly = servers.filter { $0.url == server.url }.count == 1
            return await tried(server, for: .relaying, inUse: isOnly ? inUse : nil)
        }
    }

    private func inOrder<Server: Sendable>(
        _ servers: [Server], _ attempt: @escaping @Sendable (Server) async -> TriedServer
    ) async -> [TriedServer] {
        await withTaskGroup(of: (Int, TriedServer).self) { group in
            for (index, server) in servers.prefix(Self.maximum).enumerated() {
                group.addTask { (index, await attempt(server)) }
            }
            var found: [(index: Int, server: TriedServer)] = []
            for await (index, server) in group { found.append((index, server)) }
            return found.sorted { $0.index < $1.index }.map(\.server)
        }
    }

    private func tried(_ server: GatewayConfiguration.ICEServer) async -> TriedServer {
        guard let url = ICEServerURL(server.url) else {
            return TriedServer(url: server.url, isRelay: server.url.hasPrefix("turn"), outcome: .malformed)
        }
        let (username, password) = (server.username ?? "", server.credential ?? "")
        let named = GatewayConfiguration.Network.TURNServer(url: url, username: username, password: password)
        switch url.scheme {
        case .stun, .stuns: return await tried(named, for: .reflexiveAddress)
        case .turn, .turns:
            guard !username.isEmpty, !password.isEmpty else {
                return TriedServer(url: server.url, isRelay: true, outcome: .withoutCredentials)
            }
            guard url.scheme == .turn || url.transport == .tcp else {
                return TriedServer(url: server.url, isRelay: true, outcome: .untried)
            }
            return await tried(named, for: .relaying)
        }
    }

    private func tried(
        _ server: GatewayConfiguration.Network.TURNServer, for purpose: ServerTrial.Purpose, inUse: TURNState? = nil
    ) async -> TriedServer {
        // Only a server of viewers is `stuns`.
        let transport = server.url.scheme == .stuns ? .tls(name: server.url.host, authorities: nil) : server.transport
        var result = TriedServer(
            url: "\(server.url)", isRelay: purpose == .relaying, transport: transport, outcome: .inUse)
        let addresses: [TransportAddress]
        do throws(UnknownHostName) {
            addresses = try await HostNameLookup.addresses(
                of: server.url.host, port: server.url.port, within: patience)
        } catch {
            result.outcome = .unknown("\(error)")
            return result
        }
        if let inUse, inUse.transport == transport, addresses.contains(inUse.server) { return result }
        let oneOfEachFamily = [TransportAddress.Family.ipv4, .ipv6].compactMap { family in
            addresses.first { $0.family == family }
        }
        result.outcome = await ask(
            oneOfEachFamily.map {
                TURNServer(
                    address: $0, transport: transport, username: server.username, password: server.password)
            }, for: purpose)
        return result
    }

    /// Asks a server at its addresses, until one of them answers.
    private func ask(_ addresses: [TURNServer], for purpose: ServerTrial.Purpose) async -> TriedServer.Outcome {
        let outcome = await DoctorThread.run { [patience] () -> TriedServer.Outcome in
            var failure: TURNFailure?
            for server in addresses {
                do throws(TURNFailure) {
                    return .answered(after: try ServerTrial(of: server, for: purpose).run(within: patience).delay)
                } catch {
                    failure = failure ?? error
                }
            }
            return .failed(failure ?? .noAnswer)
        }
        return outcome ?? .failed(.unreachable(reason: "this machine cannot start a thread"))
    }
}

extension HostNameLookup {
    /// The addresses of a host name or an address, or why there are none, after `limit` at the latest.
    static func addresses(
        of host: String, port: UInt16, within limit: Duration
    ) async throws(UnknownHostName) -> [TransportAddress] {
        typealias Outcome = Result<[TransportAddress], UnknownHostName>
        if let literal = TransportAddress(host, port: port) { return [literal] }
        let outcome: Outcome? = await withTaskGroup(of: Outcome?.self) { group in
            group.addTask {
                do throws(UnknownHostName) {
                    return Outcome.success(try await HostNameLookup.addresses(of: host, port: port))
                } catch {
                    return Outcome.failure(error)
                }
            }
            group.addTask {
                try? await Task.sleep(for: limit)
                return nil
            }
            let first = await group.next()
            group.cancelAll()
            return first ?? nil
        }
        guard let outcome else { throw UnknownHostName(description: "\(host): no name server answers") }
        return try outcome.get()
    }
}

import MediaRelay

/// What came of trying what the config names.
struct TriedConfiguration: Sendable {
    /// The address of `http.publicURL`; nil where the config names none.
    var page: PublicPage?
    /// The servers of `network.turn`.
    var relays: [TriedServer] = []
    /// The servers of `media.iceServers`.
    var viewerServers: [TriedServer] = []
}

extension TriedConfiguration {
    /// Tries everything at once.
    /// - Parameters:
    ///   - inUse: what the gateway knows of the TURN server that it uses.
    ///   - patience: how long a name, a connection or an answer may take.
    static func trying(
        _ configuration: GatewayConfiguration, inUse: TURNState?, patience: Duration
    ) async -> TriedConfiguration {
        let trials = ServerTrials(patience: patience)
        async let page = PublicPage.trying(configuration.http, patience: patience)
        async let relays = trials.relays(configuration.network.turnServers, inUse: inUse)
        async let viewerServers = trials.viewerServers(configuration.media.iceServers)
        return TriedConfiguration(page: await page, relays: await relays, viewerServers: await viewerServers)
    }
}

/// Lets at most one round of attempts run: whoever asks meanwhile gets what that one finds. So many requests cost no more
/// threads, and no more of a TURN server's quota, than one.
actor SharedAttempts {
    private var round: Task<TriedConfiguration, Never>?

    /// Begins a round, or waits for the one that is going on.
    func run(_ attempt: @escaping @Sendable () async -> TriedConfiguration) async -> TriedConfiguration {
        if let round { return await round.value }
        let begun = Task { await attempt() }
        round = begun
        let found = await begun.value
        round = nil
        return found
    }
}

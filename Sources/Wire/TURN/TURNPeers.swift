import Transport

/// The hosts that may send to an allocation, and the peers with a channel.
struct TURNPeers: Sendable {
    private struct Permission {
        var isGranted = false
        /// When it is made again, or forgotten if it was not used.
        var refresh = Instant.distantFuture
        var wasUsed = true
        /// Whether the host has sent anything.
        var hasAnswered = false
        /// What waits for it, with the peer's port.
        var held: [(peer: TransportAddress, bytes: [UInt8])] = []
    }

    private struct Channel {
        var peer: TransportAddress
        var isBound = false
        var refresh = Instant.distantFuture
        var wasUsed = true
    }

    /// By the host's address with port 0.
    private var permissions: [TransportAddress: Permission] = [:]
    private var channels: [UInt16: Channel] = [:]
    private var channelsByPeer: [TransportAddress: UInt16] = [:]
    private var nextChannel = TURN.channels.lowerBound
    private var heldCount = 0

    /// What to do with a datagram for a peer.
    enum Way {
        /// In a channel with this number.
        case channel(UInt16)
        /// In a Send indication; the peer may deserve a channel.
        case indication
        /// It waits for the permission, which may have to be asked for.
        case wait(asks: Bool)
        /// There is no room for another host.
        case none
    }

    var nextRefresh: Instant {
        var next = Instant.distantFuture
        for permission in permissions.values { next = min(next, permission.refresh) }
        for channel in channels.values { next = min(next, channel.refresh) }
        return next
    }

    /// How many hosts may send, or wait for that.
    var permissionCount: Int { permissions.count }

    mutating func removeAll() { self = TURNPeers() }

    mutating func way(to peer: TransportAddress) -> Way {
        if let number = channelsByPeer[peer], channels[number]?.isBound == true {
            channels[number]?.wasUsed = true
            permissions[peer.withPort(0)]?.wasUsed = true
            return .channel(number)
        }
        let host = peer.withPort(0)
        if let permission = permissions[host] {
            permissions[host]?.wasUsed = true
            return permission.isGranted ? .indication : .wait(asks: false)
        }
        if permissions.count >= TURNLimits.permissions {
            // A viewer that names many hosts takes the place of such hosts only.
            guard let silent = permissions.first(where: { $0.value.isGranted && !$0.value.hasAnswered })?.key else {
                return .none
            }
            permissions[silent] = nil
        }
        permissions[host] = Permission()
        return .wait(asks: true)
    }

    /// Whether data of a peer is wanted; the peer has answered.
    mutating func recordData(from peer: TransportAddress) -> Bool {
        let host = peer.withPort(0)
        guard let permission = permissions[host], permission.isGranted else { return false }
        if !permission.hasAnswered { permissions[host]?.hasAnswered = true }
        return true
    }

    /// The peer behind a channel. The server may use a channel before its answer has come.
    func peer(ofChannel number: UInt16) -> TransportAddress? { channels[number]?.peer }

    /// Keeps a datagram until the permission comes.
    mutating func hold(_ bytes: UnsafeRawBufferPointer, for peer: TransportAddress) {
        guard heldCount < TURNLimits.held, bytes.count <= TURNLimits.datagram, permissions[peer.withPort(0)] != nil
        else { return }
        permissions[peer.withPort(0)]?.held.append((peer, Array(bytes)))
        heldCount += 1
    }

    /// The server lets a host send, until it is asked again at `refresh`.
    /// - Returns: what has waited for it.
    mutating func granted(_ host: TransportAddress, refresh: Instant) -> [(peer: TransportAddress, bytes: [UInt8])] {
        guard let before = permissions[host] else { return [] }
        permissions[host]?.isGranted = true
        permissions[host]?.refresh = refresh
        permissions[host]?.wasUsed = false
        permissions[host]?.held = []
        heldCount -= before.held.count
        return before.held
    }

    /// The server refuses a host.
    mutating func refused(_ host: TransportAddress) {
        heldCount -= permissions[host]?.held.count ?? 0
        permissions[host] = nil
        for (number, channel) in channels where channel.peer.withPort(0) == host { forget(number) }
    }

    /// Reserves a channel for a peer; nil where it has one or there are too many.
    mutating func reserveChannel(for peer: TransportAddress) -> UInt16? {
        guard channelsByPeer[peer] == nil, channels.count < TURNLimits.channels else { return nil }
        // A number must not be used again for another peer within five minutes after its end. Numbers are taken in turn, so
        // that takes 3,840 others.
        for _ in TURN.channels {
            let number = nextChannel
            nextChannel = number == TURN.channels.upperBound ? TURN.channels.lowerBound : number + 1
            guard channels[number] == nil else { continue }
            channels[number] = Channel(peer: peer)
            channelsByPeer[peer] = number
            return number
        }
        return nil
    }

    /// The server has bound a channel, until it is asked again at `refresh`.
    mutating func bound(_ number: UInt16, refresh: Instant) {
        guard let channel = channels[number] else { return }
        channels[number]?.isBound = true
        channels[number]?.refresh = refresh
        channels[number]?.wasUsed = false
        // The permission is new, too (RFC 8656, section 12).
        if permissions[channel.peer.withPort(0)]?.isGranted == true {
            permissions[channel.peer.withPort(0)]?.refresh = refresh
        }
    }

    /// The server does not bind a channel. The peer is reached without one.
    mutating func forget(_ number: UInt16) {
        guard let channel = channels.removeValue(forKey: number) else { return }
        channelsByPeer[channel.peer] = nil
    }

    /// The server does not answer about a host. A permission that it has given is asked for again if it was used meanwhile: what
    /// is lost is the answer, as long as the server answers at all.
    mutating func unanswered(_ host: TransportAddress, at now: Instant) {
        if permissions[host]?.isGranted == true { permissions[host]?.refresh = now } else { refused(host) }
    }

    /// Makes the permission of a host due to be asked for again, unless that is being done.
    mutating func renewPermission(of host: TransportAddress, at now: Instant) {
        guard let permission = permissions[host], permission.isGranted, permission.refresh != .distantFuture else {
            return
        }
        permissions[host]?.refresh = now
        permissions[host]?.wasUsed = true
    }

    /// The next permission or channel that is due to be asked for again. Those that were not used are forgotten.
    mutating func popRefresh(at now: Instant) -> TURNRequest.Kind? {
        while let (number, channel) = channels.first(where: { $0.value.refresh <= now }) {
            channels[number]?.refresh = .distantFuture
            if channel.wasUsed { return .channel(number, channel.peer) }
            forget(number)
        }
        while let (host, permission) = permissions.first(where: { $0.value.refresh <= now }) {
            guard permission.wasUsed else {
                permissions[host] = nil
                continue
            }
            permissions[host]?.refresh = .distantFuture
            permissions[host]?.wasUsed = false
            return .permission(host)
        }
        return nil
    }
}

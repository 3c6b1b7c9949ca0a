/// How the client keeps a camera's session alive. The raw values are those of the config's `keepAlive`.
public enum RTSPKeepAlive: String, Sendable, Hashable, CaseIterable {
    /// GET_PARAMETER without a body, as RFC 2326, section 10.8, suggests.
    case getParameter = "get-parameter"
    /// SET_PARAMETER without a body.
    case setParameter = "set-parameter"
    /// OPTIONS, which every server knows but some do not count.
    case options
    /// No request at all: only RTCP receiver reports.
    case receiverReports = "rtcp"
    /// Nothing, not even receiver reports: for a camera that does not tolerate any sign of life. Only the config
    /// chooses it.
    case nothing = "none"

    /// The kinds in the order in which they are tried.
    public static let ladder: [RTSPKeepAlive] = [.getParameter, .setParameter, .options, .receiverReports]

    /// The first kind to try with a camera that lists `methods` in its answer to OPTIONS, leaving out those that are
    /// known to end its sessions. A camera that lists none of the requests gets the one that every server must know.
    static func first(for methods: Set<RTSPMethod>, avoiding avoided: Set<RTSPKeepAlive>) -> RTSPKeepAlive {
        let advertised = [RTSPKeepAlive.getParameter, .setParameter].filter { kind in
            kind.method.map { methods.contains($0) } ?? false
        }
        let order = advertised + [.options] + ladder
        return order.first { !avoided.contains($0) } ?? .receiverReports
    }

    var method: RTSPMethod? {
        switch self {
        case .getParameter: .getParameter
        case .setParameter: .setParameter
        case .options: .options
        case .receiverReports, .nothing: nil
        }
    }
}

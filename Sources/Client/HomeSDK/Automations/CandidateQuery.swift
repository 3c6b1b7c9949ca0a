import GatewayClient
import HomeTypes
import Transport

#if canImport(Combine)
    import Combine
#else
    import OpenCombine
#endif

/// What automations of a structure, or with one device, can start with, read and do.
public struct CandidateQuery: Sendable {
    enum Scope: Sendable, Hashable {
        /// The structure with its devices.
        case everything
        /// Only the structure itself.
        case structure
        /// One device.
        case device(String)
    }

    let model: HomeModel
    let structureID: String
    let scope: Scope

    /// The candidates as they are now.
    /// - Throws: `unavailable` when the gateway has been away for longer than the configured patience.
    public func list() async throws(HomeError) -> Set<Candidate> {
        try await batched().firstValue() ?? []
    }

    /// The candidates as they are now, and again after each change: when a device is added, removed or renamed, when
    /// its types or traits change, and when the structure gets an address.
    public func batched() -> AnyPublisher<Set<Candidate>, HomeError> {
        StreamPublisher { CandidateSource(self, fetch: fetch) }.eraseToAnyPublisher()
    }

    /// Asks the gateway.
    func fetch() async throws(HomeError) -> CandidateRecords {
        var path = "/v1/structures/\(GatewayConnection.segment(structureID))/candidates"
        if case .device(let id) = scope { path += "?device=\(GatewayConnection.segment(id))" }
        return try await model.request(.get, path)
    }

    /// The candidates of an answer, with the objects of the home as they are now. Candidates whose object the home no
    /// longer has are left out.
    func candidates(_ records: CandidateRecords, in home: HomeState) -> Set<Candidate> {
        let types = model.automationTypes
        return Set(
            records.candidates.compactMap { record in
                if let id = record.entity.structure {
                    if case .device = scope { return nil }
                    return home.structures[id].flatMap { record.candidate(Structure(model, $0), types) }
                }
                guard scope != .structure, let id = record.entity.device else { return nil }
                if case .device(let wanted) = scope, wanted != id { return nil }
                return home.devices[id].flatMap { record.candidate(HomeDevice(model, $0), types) }
            })
    }
}

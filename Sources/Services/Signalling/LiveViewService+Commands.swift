import Cameras
import Codecs
import MediaRelay
import SDP
import Stations
import Transport

extension LiveViewService {
    func extendLiveView(
        _ reference: SessionReference, extendedDurationSeconds: UInt16?
    ) async throws(SignallingError) -> UInt16 {
        let session = try registry.session(reference)
        let granted = try ledger.extend(
            session.id, of: session.principal, bySeconds: extendedDurationSeconds, at: now)
        armExpiry()
        registry.changes.add(session.id)
        return granted
    }

    func stopLiveView(_ reference: SessionReference) async throws(SignallingError) {
        guard let session = try registry.sessionOrEnded(reference) else { return }
        await end(session.id, because: .stopped)
    }

    func requireSession(_ reference: SessionReference) async throws(SignallingError) {
        _ = try registry.session(reference)
    }

    func trickle(
        _ fragment: String, _ reference: SessionReference, reachedAddresses: [String]
    ) async throws(SignallingError) -> TrickleResult {
        let id = try registry.session(reference).id
        guard var transport = sessions[id]?.transport else { throw .unknownSession }
        let result = try transport.take(
            fragment, of: id, reached: reachedAddresses, in: registry, random: &random)
        sessions[id]?.transport = transport
        return result
    }
}

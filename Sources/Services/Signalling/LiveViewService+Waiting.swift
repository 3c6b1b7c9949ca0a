import MediaRelay
import Transport

extension LiveViewService {
    func waitUntilConnected(_ reference: SessionReference, atMost patience: Duration) async -> Bool {
        // A session that is not alive has no connection that could be made.
        guard let id = (try? registry.session(reference))?.id else { return false }
        let number = connectionWaits.takeNumber()
        let deadline = now + patience
        await withTaskCancellationHandler {
            await wait(number, for: id, until: deadline)
        } onCancel: {
            Task { await self.endWait(number) }
        }
        armExpiry()
        return isConnected(id)
    }

    private func wait(_ number: UInt64, for sessionID: String, until deadline: Instant) async {
        await withCheckedContinuation { continuation in
            // The session may have connected or ended already. A task that is cancelled later ends the wait in its turn.
            guard sessions[sessionID] != nil, !isConnected(sessionID), !Task.isCancelled else {
                return continuation.resume()
            }
            connectionWaits.add(number, for: sessionID, until: deadline, continuation)
            armExpiry()
        }
    }

    private func isConnected(_ sessionID: String) -> Bool { sessions[sessionID]?.status.isConnected ?? false }

    private func endWait(_ number: UInt64) { connectionWaits.resume(number) }
}

import HomeTypes
import PushAvStreamTransport
import Signalling

/// Who may do what with a device. The HTTP layer asks before it reads a body; the hub asks again, because commands also
/// come from elsewhere.
extension HomeHub {
    /// Fails unless the caller has a scope for a device. A device that the caller may not know about looks like one
    /// that does not exist.
    func require(_ scope: Caller.Scope, of deviceID: String, for caller: Caller) throws(HomeError) {
        let object = directory.device(deviceID)
        guard caller.access.sees(object) else { throw Self.unknownDevice(deviceID) }
        guard caller.access.permits(scope, object) else {
            throw .notGranted(
                "\(caller.principal) does not have the scope \(scope.rawValue) for device \(deviceID)")
        }
    }

    /// Fails unless the caller may see a device's live pictures.
    public func requireView(of deviceID: String, for caller: Caller) throws(HomeError) {
        try require(.view, of: deviceID, for: caller)
        try requireDevice(deviceID)
    }

    /// The refusal for a device that does not exist, or that must look as if it did not.
    public nonisolated static func unknownDevice(_ id: String) -> HomeError {
        .notFound("no device has the id or key \(id.prefix(64).debugDescription)")
            .advising(request: "GET /v1/devices lists them", command: "gatehouse devices lists them")
    }

    /// The devices that a principal may read.
    public func devices(for access: Access) -> [DeviceSnapshot] {
        devices().filter { access.permits(.read, directory.device($0.id)) }
    }

    /// A device that a principal may read; nil for one that does not exist, or must look as if it did not.
    public func device(_ id: String, for access: Access) -> DeviceSnapshot? {
        guard access.permits(.read, directory.device(id)) else { return nil }
        return try? device(id)
    }

    /// The structures that a principal may read, oldest first.
    public func structures(for access: Access) -> [StructureSnapshot] {
        structures().filter { access.permits(.read, .structure($0.id)) }
    }

    /// The rooms that a principal may read, oldest first.
    public func rooms(for access: Access) -> [RoomSnapshot] {
        rooms().filter { access.permits(.read, .structure($0.structureID)) }
    }

    /// Ends what a principal may no longer have: its event streams, its recording connections to cameras
    /// whose footage it may no longer have, the live views of devices that it may not watch, and its talks to devices
    /// to which it may no longer speak.
    /// - Parameter access: what the principal may do from now on.
    public func enforce(_ access: Access, on principal: String) async {
        log.removeReaders(of: principal)
        await endConnections(of: principal, unlessPermittedBy: access)
        for lease in await signalling.views.leases() where lease.principal == principal {
            let device = directory.device(lease.deviceID)
            let session = SessionReference(lease.mediaSessionId, principal: principal)
            // A session that has ended in the meantime needs nothing.
            if !access.permits(.view, device) {
                try? await signalling.views.stopLiveView(session)
            } else if !access.permits(.media, device) {
                try? await signalling.talks.stopTalkback(session)
            }
        }
    }

    /// Ends the recording connections of a principal to cameras whose footage it may no longer have. Such connections
    /// could send footage to any server.
    private func endConnections(of principal: String, unlessPermittedBy access: Access) async {
        guard let service = transports?.service else { return }
        let changed = await service.endConnections(of: principal) { [directory] device in
            access.permits(.media, directory.device(device))
        }
        for device in changed { await readConnections(of: device) }
    }

    /// Whether the caller of a command still has a scope after the command was carried out: a camera may take seconds
    /// to answer. If the caller lost its rights in the meantime, what the command started was not known yet and did not
    /// end.
    nonisolated func stillPermits(_ scope: Caller.Scope, _ call: CommandCall) -> Bool {
        accessOf(call.caller.principal).permits(scope, directory.device(call.deviceID))
    }

    /// Fails if the caller of a command has lost a scope for it since the request came.
    nonisolated func requireStill(_ call: CommandCall) throws(HomeError) {
        for scope in Caller.Scope.needed(for: call.command, of: call.trait)
        where call.caller.access.permits(scope, directory.device(call.deviceID)) && !stillPermits(scope, call) {
            throw Self.lost(scope, call)
        }
    }

    /// The refusal for a caller who has lost a scope.
    static func lost(_ scope: Caller.Scope, _ call: CommandCall) -> HomeError {
        .notGranted("\(call.caller.principal) no longer has the scope \(scope.rawValue) for device \(call.deviceID)")
    }

    /// Fails if a caller lost the right to a camera's footage while its command was carried out. The connection that
    /// the command created was not known when the caller's connections ended, so they are ended here again.
    func requireFootageStill(for call: CommandCall) async throws(HomeError) {
        let principal = call.caller.principal
        let access = accessOf(principal)
        guard !access.permits(.media, directory.device(call.deviceID)) else { return }
        await endConnections(of: principal, unlessPermittedBy: access)
        throw Self.lost(.media, call)
    }
}

import Foundation
import HomeTypes
import PushAvStreamTransport

/// Clients write attributes of traits.
extension HomeHub {
    /// Writes attributes of a trait of a device. Attributes that are not in the body stay as they are.
    /// - Parameters:
    ///   - endpoint: the number of the endpoint; nil to have one chosen.
    ///   - body: the attributes as JSON.
    ///   - version: what the client has read (``version(of:)``); nil for any.
    ///   - whenApplied: called when the attributes are written, as by ``send(_:body:whenApplied:)``.
    /// - Returns: the trait as it is then.
    /// - Throws: `aborted` if the attributes are not those that the client has read; `invalidArgument` with Matter's
    ///   `UNSUPPORTED_WRITE` for an attribute that cannot be written, and for values that break the vocabulary's
    ///   constraints. Nothing is changed then.
    public func update(
        _ name: String, of deviceID: String, endpoint number: UInt16? = nil, body: Data, by caller: Caller,
        ifVersion version: String? = nil, whenApplied: @Sendable () -> Void = {}
    ) async throws(HomeError) -> any Trait {
        try require(.control, of: deviceID, for: caller)
        let endpoint = try device(deviceID).endpoint(having: name, number: number)
        let trait = try self.trait(name, of: deviceID, endpoint: endpoint.id)
        try Self.requireWritable(body, trait, of: try state(of: deviceID).description)
        if trait is Google.CameraAvStreamManagementTrait, try state(of: deviceID).camera != nil {
            await takeTurn(at: deviceID)
            defer { turns.end(deviceID) }
            try requireVersion(version, of: name, at: endpoint.id, of: deviceID)
            try await updateStreams(of: deviceID, at: endpoint.id, body: body, by: caller)
        } else if trait is Google.ChimeTrait, try state(of: deviceID).camera != nil {
            // The gateway plays a camera's sounds, so it keeps which of them was chosen.
            guard let wanted = try Self.read(trait, body) as? Google.ChimeTrait else { return trait }
            await takeTurn(at: deviceID)
            defer { turns.end(deviceID) }
            try requireVersion(version, of: name, at: endpoint.id, of: deviceID)
            try await chooseChime(wanted, of: deviceID)
        } else {
            guard !type(of: trait).writableAttributes.isEmpty else {
                throw HomeError.unimplemented("trait \(name) has no attributes that can be written")
            }
            guard endpoint.connectivity(ofTrait: name).dataSourceLocality != .unspecified else {
                throw HomeError.unavailable("device \(deviceID) is not connected")
            }
            try await write(
                try Self.read(trait, body), to: endpoint.id, of: deviceID, by: caller, ifVersion: version
            ) { backend, write async throws(HomeError) in try await backend.write(write) }
        }
        whenApplied()
        return try self.trait(name, of: deviceID, endpoint: endpoint.id)
    }

    /// Accepts attributes that somebody measured for a virtual device, which does not have sensors of its own. This
    /// includes attributes that clients cannot write.
    /// - Returns: the trait as it is then.
    /// - Throws: `unimplemented` for a device that reports its own state.
    public func simulate(
        _ name: String, of deviceID: String, endpoint number: UInt16? = nil, body: Data, by caller: Caller
    ) async throws(HomeError) -> any Trait {
        try require(.control, of: deviceID, for: caller)
        let endpoint = try device(deviceID).endpoint(having: name, number: number)
        let trait = try self.trait(name, of: deviceID, endpoint: endpoint.id)
        try await write(try Self.read(trait, body), to: endpoint.id, of: deviceID, by: caller) {
            backend, write async throws(HomeError) in try await backend.simulate(write)
        }
        return try self.trait(name, of: deviceID, endpoint: endpoint.id)
    }

    /// Names the attributes of a trait as they are now, for clients that write only what they have read.
    public nonisolated static func version(of trait: any Trait) -> String? { try? ContentVersion.of(trait) }

    private func requireVersion(
        _ version: String?, of name: String, at endpoint: UInt16, of deviceID: String
    ) throws(HomeError) {
        guard version != nil else { return }
        try ContentVersion.require(
            version, of: try trait(name, of: deviceID, endpoint: endpoint), "the trait \(name) of device \(deviceID)")
    }

    private func write(
        _ trait: any Trait, to endpoint: UInt16, of deviceID: String, by caller: Caller,
        ifVersion version: String? = nil,
        _ apply: (any DeviceBackend, AttributeWrite) async throws(HomeError) -> CommandOutcome
    ) async throws(HomeError) {
        let write = AttributeWrite(deviceID: deviceID, endpoint: endpoint, trait: trait, caller: caller)
        _ = try await inTurn(
            at: deviceID,
            check: { () throws(HomeError) in
                try requireVersion(version, of: type(of: trait).name, at: endpoint, of: deviceID)
            }
        ) { backend async throws(HomeError) in try await apply(backend, write) }
    }

    /// Fails if the body names a known attribute that cannot be written, or that the device does not have, because the
    /// client would believe that it was written. An unknown attribute is ignored, as in commands.
    private static func requireWritable(
        _ body: Data, _ trait: any Trait, of device: DeviceDescription
    ) throws(HomeError) {
        let type = type(of: trait)
        let (names, supported): ([String], Set<String>)
        do {
            names = try JSONDecoder().decode(JSONObject.self, from: body).members.keys.sorted()
            supported = Set(
                try JSONDecoder().decode(JSONObject.self, from: try JSONEncoder().encode(trait)).members.keys)
        } catch let error as DecodingError {
            throw HomeError(error, body: body)
        } catch {
            throw HomeError.invalidArgument("the body cannot be read: \(error)")
        }
        let known = names.filter { type.attributeNames.contains($0) }
        if let fixed = known.first(where: { !type.writableAttributes.contains($0) }) {
            throw HomeError(
                .invalidArgument, "\(fixed) cannot be written; nothing was changed",
                subtype: .matter(HomeError.MatterError(code: MatterStatus.unsupportedWrite)))
        }
        if let missing = known.first(where: { !supported.contains($0) }) {
            throw HomeError(
                .invalidArgument,
                "this \(device.kind == nil ? "device" : "camera") does not have \(missing); nothing was changed",
                subtype: .matter(HomeError.MatterError(code: MatterStatus.unsupportedAttribute)))
        }
    }

    /// Reads attributes as a trait of the same type as another, and checks them.
    private static func read<Kind: Trait>(_ trait: Kind, _ body: Data) throws(HomeError) -> any Trait {
        do {
            let read = try JSONDecoder().decode(Kind.self, from: body)
            try read.validate()
            return read
        } catch let error as HomeError {
            throw error
        } catch let error as DecodingError {
            throw HomeError(error, body: body)
        } catch {
            throw HomeError.invalidArgument("the body cannot be read: \(error)")
        }
    }
}

import Foundation

/// The epochs under which gateways of a home record. Each start of a gateway begins one, and a later epoch is greater,
/// even if the clock was set back in between. The names of recordings contain it, so two runs never use the same name.
public enum RecordingTenure {
    /// The kind of the object in the store, and its identifier.
    static let kind = "tenure", id = "recordings"

    private struct Body: Codable {
        var epoch: UInt64
    }

    /// Begins an epoch.
    /// - Throws: what the store throws. A caller that cannot begin an epoch names recordings in another way.
    public static func begin(in store: any SharedStore) throws(StoreFailure) -> UInt64 {
        for _ in 0..<8 {
            let object = try store.object(kind, id)
            let latest = object.flatMap { try? JSONDecoder().decode(Body.self, from: Data($0.body.utf8)).epoch }
            // The version has increased with each epoch, and survives a body that cannot be read.
            let epoch = max(latest ?? 0, UInt64(clamping: object?.version ?? 0)) + 1
            let version = object?.version ?? 0
            if try store.write(kind, id, #"{"epoch":\#(epoch)}"#, expecting: version) != nil { return epoch }
        }
        throw StoreFailure(path: kind, reason: "other gateways of the home keep starting new epochs")
    }
}

import Foundation
import HomeTypes

/// Secrets that a client sends back in masked form.
extension CameraEntry {
    /// The value that a masked secret may stand for: as it is written down, where `${NAME}` is the environment's, and
    /// as it was shown except for its mask.
    private struct Known {
        let written: String
        let plain: String
    }

    /// The entry with each masked secret replaced by the one that it stands for.
    /// - Parameters:
    ///   - stored: the entry that the client was shown; nil for a new camera.
    ///   - shown: the camera that the entry describes.
    /// - Throws: `invalidArgument` for a mask that stands for no secret here. A client cannot move a password to its
    ///   own machine, and no password becomes three asterisks.
    func restoringSecrets(
        of stored: CameraEntry?, shownAs shown: GatewayConfiguration.Camera?
    ) throws(HomeError) -> CameraEntry {
        var known: [String: Known] = [:]
        for (key, plain) in [("source", shown?.sourceText), ("substream", shown?.substream)] {
            guard let plain, case .text(let written)? = stored?.values[key] else { continue }
            known[key] = Known(written: written, plain: plain)
        }
        var result = self
        // Both streams usually have the same user at the same camera.
        for (key, other) in [("source", "substream"), ("substream", "source")] {
            guard case .text(let given)? = values[key] else { continue }
            let restored = try Self.restored(given, key: key, from: [known[key], known[other]].compactMap(\.self))
            result.values[key] = .text(restored)
        }
        if case .group(let onvif)? = values["onvif"] {
            result.values["onvif"] = .group(
                try Self.restored(onvif, of: stored?.values["onvif"], shownAs: shown?.onvif))
        }
        return result
    }

    private static func restored(_ given: String, key: String, from known: [Known]) throws(HomeError) -> String {
        let address = CameraAddress(text: given)
        let parts = address.secretParts
        guard parts.contains(where: { isMask(given[$0.range]) }) else { return given }
        if let same = known.first(where: { CameraAddress(text: $0.plain).masked == given }) { return same.written }
        for source in known where address.mayTakeSecrets(of: CameraAddress(text: source.plain)) {
            if let restored = filled(given, parts, with: secrets(of: source)) { return restored }
        }
        throw refusal(key)
    }

    /// The text with a secret in place of each mask; nil if a secret is missing.
    private static func filled(
        _ given: String, _ parts: [CameraAddress.SecretPart], with known: [(name: String, text: String)]
    ) -> String? {
        var secrets = known
        var result = ""
        var rest = given.startIndex
        for part in parts {
            // Among several with the same name, the one at the same position counts.
            let index = secrets.firstIndex { $0.name == part.name }
            let secret = index.map { secrets.remove(at: $0).text }
            guard isMask(given[part.range]) else { continue }
            guard let secret else { return nil }
            result += given[rest..<part.range.lowerBound] + secret
            rest = part.range.upperBound
        }
        return result + given[rest...]
    }

    /// The secrets in the form to be written. They keep their references to the environment where the two forms have
    /// the same parts, and are plain where a reference stands for more than a secret.
    private static func secrets(of known: Known) -> [(name: String, text: String)] {
        let (written, plain) = (CameraAddress(text: known.written), CameraAddress(text: known.plain))
        let writtenParts = written.secretParts
        let plainParts = plain.secretParts
        if writtenParts.map(\.name) == plainParts.map(\.name) {
            return writtenParts.map { ($0.name, String(written.text[$0.range])) }
        }
        return plainParts.map { ($0.name, EnvironmentReferences.escaped(String(plain.text[$0.range]))) }
    }

    private static func restored(
        _ given: [String: Value], of stored: Value?, shownAs shown: GatewayConfiguration.Camera.ONVIFDevice?
    ) throws(HomeError) -> [String: Value] {
        var before: [String: Value] = [:]
        if case .group(let values)? = stored { before = values }
        var result = given
        if case .text(let url)? = given["url"] {
            var known: [Known] = []
            if let shown, case .text(let written)? = before["url"] {
                known = [Known(written: written, plain: shown.url)]
            }
            result["url"] = .text(try restored(url, key: "onvif.url", from: known))
        }
        guard case .text(let password)? = given["password"], isMask(password[...]) else { return result }
        guard let shown, let kept = before["password"], isSameService(given, as: shown) else {
            throw refusal("onvif.password")
        }
        result["password"] = kept
        return result
    }

    /// Whether the given keys of an ONVIF service name the same user at the same host.
    private static func isSameService(
        _ given: [String: Value], as shown: GatewayConfiguration.Camera.ONVIFDevice
    ) -> Bool {
        if case .text(let name)? = given["username"], name != EnvironmentReferences.escaped(shown.username ?? "") {
            return false
        }
        guard case .text(let url)? = given["url"] else { return true }
        return CameraAddress(text: url).mayTakeSecrets(of: CameraAddress(text: shown.url))
    }

    /// Whether a text is the mask that responses show, even if a client has percent-encoded it.
    private static func isMask(_ text: Substring) -> Bool {
        text == CameraAddress.mask || text.removingPercentEncoding == CameraAddress.mask
    }

    private static func refusal(_ key: String) -> HomeError {
        .invalidArgument(
            "\(key): \(CameraAddress.mask) refers to a stored secret, and none is stored for this user at this host; "
                + "write the secret itself")
    }

    /// The entry without the password of an ONVIF service that is no longer the one of `stored`, unless `patch` gives
    /// one. A client cannot move a password to its own machine.
    func droppingForeignPassword(
        of stored: CameraEntry, shownAs shown: GatewayConfiguration.Camera, patch: CameraEntry
    ) -> CameraEntry {
        guard case .group(var now)? = values["onvif"], case .group(let written)? = stored.values["onvif"],
            let before = shown.onvif, now["url"] != written["url"],
            !Self.isSameService(["url": now["url"] ?? .none], as: before)
        else { return self }
        if case .group(let given)? = patch.values["onvif"], given["password"] != nil { return self }
        now["password"] = nil
        var result = self
        result.values["onvif"] = .group(now)
        return result
    }
}

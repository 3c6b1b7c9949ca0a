import Cameras
import Foundation
import HTTPMedia
import HomeTypes
import RTSP
import Yams

extension ConfigurationLoader {
    /// The keys of a camera in whose texts environment variables are replaced, at any depth.
    static let cameraKeysWithVariables: Set = ["source", "substream", "onvif"]

    static let cameraKeys = [
        "id", "formerly", "name", "type", "source", "substream", "transport", "keepAlive", "framesPerSecond", "pull",
        "battery", "pullWhileOff", "talkback", "transcodeVideo", "onvif", "webhook", "information",
    ]

    func cameras(_ place: YAMLReader.Place?) -> [GatewayConfiguration.Camera] {
        var lines: [String: Int] = [:]
        var result: [GatewayConfiguration.Camera] = []
        for element in reader.sequence(place) {
            guard let camera = self.camera(element) else { continue }
            if let line = lines[camera.id] {
                reader.report("the id \(camera.id) is already used by the camera on line \(line)", at: element)
                continue
            }
            lines[camera.id] = element.line
            result.append(camera)
        }
        checkFormerIDs(of: result, place)
        return result
    }

    /// Reports a camera that claims the device of a camera that is still there, or that another one claims too.
    private func checkFormerIDs(of cameras: [GatewayConfiguration.Camera], _ place: YAMLReader.Place?) {
        guard let place else { return }
        let present = Set(cameras.map(\.id))
        var claimed: Set<String> = []
        for camera in cameras {
            guard let former = camera.formerly else { continue }
            if present.contains(former) {
                reader.report(
                    "the camera \(camera.id) has formerly: \(former), which is still a camera of its own; remove one of "
                        + "the two", at: place)
            } else if !claimed.insert(former).inserted {
                reader.report("two cameras have formerly: \(former); a device has only one successor", at: place)
            }
        }
    }

    func camera(_ place: YAMLReader.Place) -> GatewayConfiguration.Camera? {
        let keys = reader.mapping(place, keys: Self.cameraKeys)
        guard place.node.mapping != nil else { return nil }
        // Without an id, whatever else is wrong is still reported.
        let known = cameraID(keys["id"], of: place)
        let id = known ?? ""
        let source = self.source(keys["source"])
        if source == nil, keys["source"]?.isNull != false { reader.report("source is missing", at: place) }
        let kind: DeviceKind
        switch reader.word(keys["type"], among: ["doorbell", "camera"]) {
        case "doorbell": kind = .doorbell
        case "camera": kind = .camera
        default: kind = source == .builtInDoorbell ? .doorbell : .camera
        }
        var camera = GatewayConfiguration.Camera(
            id: id, name: name(keys["name"]) ?? id, kind: kind, source: source ?? .publisher)
        camera.formerly = formerly(keys["formerly"], of: id)
        camera.substream = keys["substream"].flatMap { substream($0, of: source) }
        camera.transport = choice(keys["transport"]) ?? camera.transport
        camera.keepAlive = choice(keys["keepAlive"]) ?? camera.keepAlive
        camera.framesPerSecond = framesPerSecond(keys["framesPerSecond"], of: source)
        pull(keys, of: source, &camera)
        if source == .publisher, camera.pull == .onDemand, let place = keys["pull"] {
            reader.report(
                "a camera with source: publisher always waits for its publisher and is never pulled; remove pull",
                at: place)
        }
        camera.pullsWhileOff = reader.boolean(keys["pullWhileOff"]) ?? camera.pullsWhileOff
        // `off` is a word here, but YAML 1.1 reads it as false.
        if let talkback = keys["talkback"], talkback.node.scalar != nil, talkback.node.bool == false {
            camera.talkback = .off
        } else {
            camera.talkback = choice(keys["talkback"]) ?? camera.talkback
        }
        camera.transcodesVideo = transcodeVideo(keys["transcodeVideo"]) ?? camera.transcodesVideo
        camera.onvif = keys["onvif"].flatMap { onvif($0) }
        camera.acceptsWebhook = reader.boolean(keys["webhook"]) ?? camera.acceptsWebhook
        camera.information = information(keys["information"])
        return source == nil || known == nil ? nil : camera
    }

    private func cameraID(_ idPlace: YAMLReader.Place?, of place: YAMLReader.Place) -> String? {
        guard let idPlace, let id = reader.string(idPlace) else {
            reader.report("id is missing", at: place)
            return nil
        }
        guard Self.isIdentifier(id) else {
            reader.report(
                "expected 1 to 64 letters, digits, '.', '_' or '-', starting with a letter or digit", at: idPlace)
            return nil
        }
        return id
    }

    /// When the camera is pulled, and whether it runs on a battery.
    private func pull(
        _ keys: [String: YAMLReader.Place], of source: GatewayConfiguration.Camera.Source?,
        _ camera: inout GatewayConfiguration.Camera
    ) {
        var isPictures = false
        switch source {
        case .pictures, .videoDevice: isPictures = true
        default: break
        }
        let written: GatewayConfiguration.Camera.Pull? = choice(keys["pull"])
        let battery = reader.boolean(keys["battery"])
        if source == .publisher, battery == true, let place = keys["battery"] {
            reader.report("a camera with source: publisher is never woken up by the gateway; remove battery", at: place)
        }
        // Every picture of a camera that sends JPEG is encoded, which takes processor time: it rests, too, but not for a
        // battery. So does a camera of this machine, whose light is on while it runs.
        camera.pull = written ?? (isPictures || battery == true ? .onDemand : .always)
        camera.isOnBattery = battery ?? (written == .onDemand && !isPictures)
    }

    /// The key that a camera had before.
    private func formerly(_ place: YAMLReader.Place?, of id: String) -> String? {
        guard let place, let former = reader.string(place) else { return nil }
        guard Self.isIdentifier(former) else {
            reader.report(
                "expected 1 to 64 letters, digits, '.', '_' or '-', starting with a letter or digit", at: place)
            return nil
        }
        if former == id {
            reader.report("this is the camera's present id; write the one that it had before", at: place)
        }
        return former
    }

    /// `auto`, or one of two words that may still be written in their old form, `true` and `false`.
    private func transcodeVideo(_ place: YAMLReader.Place?) -> GatewayConfiguration.Camera.TranscodeVideo? {
        guard let place, !place.isNull else { return nil }
        if place.node.scalar != nil, let flag = place.node.bool { return flag ? .always : .never }
        let words = GatewayConfiguration.Camera.TranscodeVideo.allCases.map(\.rawValue)
        if let text = place.node.scalar?.string, words.contains(text) { return .init(rawValue: text) }
        reader.report("expected auto, true (always) or false (never)", at: place)
        return nil
    }

    /// A text that people read, in pages, terminals and logs.
    private func name(_ place: YAMLReader.Place?) -> String? {
        guard let place, let text = reader.string(place) else { return nil }
        if let fault = NameRules.fault(in: text) { reader.report(fault, at: place) }
        return text
    }

    /// One of an enumeration's words.
    private func choice<Choice: RawRepresentable & CaseIterable>(_ place: YAMLReader.Place?) -> Choice?
    where Choice.RawValue == String {
        reader.word(place, among: Choice.allCases.map(\.rawValue)).flatMap(Choice.init(rawValue:))
    }

    private func source(_ place: YAMLReader.Place?) -> GatewayConfiguration.Camera.Source? {
        guard let place, let text = reader.string(place), let source = substituted(text, at: place) else {
            return nil
        }
        if source == "builtin:doorbell" { return .builtInDoorbell }
        if source == "builtin:silent" { return .builtInSilent }
        // The second word is that of the time when publishers had only WHIP.
        if source == "publisher" || source == "whip" { return .publisher }
        let scheme = source.prefix { $0 != ":" }.lowercased()
        if scheme == VideoDeviceAddress.scheme { return videoDevice(source, at: place) }
        guard GatewayConfiguration.Camera.schemes.contains(scheme), source.dropFirst(scheme.count).hasPrefix("://")
        else {
            reader.report(
                "expected builtin:doorbell, builtin:silent, publisher, v4l2:/dev/video0, or "
                    + GatewayConfiguration.Camera.urlWords, at: place)
            return nil
        }
        if StreamAddress.isStream(source) { return stream(source, at: place) }
        guard Self.hasHost(source) else {
            reader.report(Self.urlAdvice(scheme), at: place)
            return nil
        }
        guard canConnect(to: source, at: place) else { return nil }
        switch scheme {
        case "onvif": return .onvif(source)
        case "http", "https": return .pictures(source)
        default: return .rtsp(source)
        }
    }

    /// The address of a stream that is not RTP.
    private func stream(_ text: String, at place: YAMLReader.Place) -> GatewayConfiguration.Camera.Source? {
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
            reader.report(Self.urlAdvice(String(text.prefix { $0 != ":" })), at: place)
            return nil
        }
        do {
            _ = try StreamAddress(text)
            return .stream(text)
        } catch {
            switch error {
            case .invalidAddress(let reason): reader.report("the URL cannot be used: \(reason)", at: place)
            }
            return nil
        }
    }

    /// A camera of this machine.
    private func videoDevice(_ text: String, at place: YAMLReader.Place) -> GatewayConfiguration.Camera.Source? {
        do {
            _ = try VideoDeviceAddress(text)
            return .videoDevice(text)
        } catch {
            reader.report(error.description, at: place)
            return nil
        }
    }

    /// How many pictures per second are taken of a camera that sends JPEG.
    private func framesPerSecond(
        _ place: YAMLReader.Place?, of source: GatewayConfiguration.Camera.Source?
    ) -> Double? {
        guard let place, let text = reader.string(place) else { return nil }
        switch source {
        case .pictures, .videoDevice: break
        default:
            reader.report(
                "only a camera that sends JPEG (http://, https://, v4l2:) can have framesPerSecond", at: place)
            return nil
        }
        guard let value = Double(text), (0.1...30).contains(value) else {
            reader.report("expected a number from 0.1 to 30", at: place)
            return nil
        }
        return value
    }

    private func substream(
        _ place: YAMLReader.Place, of source: GatewayConfiguration.Camera.Source?
    ) -> String? {
        guard let text = reader.string(place), let url = substituted(text, at: place) else { return nil }
        if url == GatewayConfiguration.Camera.noSubstream { return url }
        if url == GatewayConfiguration.Camera.substreamOfDevice {
            switch source {
            case .onvif, nil: return url
            case .rtsp, .builtInDoorbell, .builtInSilent, .pictures, .stream, .videoDevice, .publisher:
                reader.report("substream: onvif needs an onvif:// source", at: place)
                return nil
            }
        }
        let scheme = url.prefix { $0 != ":" }.lowercased()
        guard ["rtsp", "rtsps"].contains(scheme), url.dropFirst(scheme.count).hasPrefix("://") else {
            reader.report(
                "expected an rtsp:// or rtsps:// URL, onvif to ask the camera for its substream, or none", at: place)
            return nil
        }
        guard Self.hasHost(url) else {
            reader.report(Self.urlAdvice(scheme), at: place)
            return nil
        }
        guard canConnect(to: url, at: place) else { return nil }
        switch source {
        case .builtInDoorbell, .builtInSilent, .pictures, .stream, .videoDevice, .publisher:
            reader.report(
                "only a camera with an rtsp://, rtsps:// or onvif:// source can have a substream", at: place)
            return nil
        case .rtsp, .onvif, nil: return url
        }
    }

    private func onvif(_ place: YAMLReader.Place) -> GatewayConfiguration.Camera.ONVIFDevice? {
        if place.isNull { return nil }
        let keys = reader.mapping(place, keys: ["url", "username", "password"])
        guard place.node.mapping != nil else { return nil }
        func text(_ key: String) -> String? {
            keys[key].flatMap { place in reader.string(place).flatMap { substituted($0, at: place) } }
        }
        let (username, password) = (text("username"), text("password"))
        guard let urlPlace = keys["url"], let url = text("url") else {
            if keys["url"]?.isNull != false { reader.report("url is missing", at: place) }
            return nil
        }
        let scheme = url.prefix { $0 != ":" }.lowercased()
        guard ["http", "https"].contains(scheme), url.dropFirst(scheme.count).hasPrefix("://"), Self.hasHost(url) else {
            reader.report("expected a URL such as http://192.0.2.20/onvif/device_service", at: urlPlace)
            return nil
        }
        guard canConnect(to: url, at: urlPlace) else { return nil }
        guard !CameraAddress(text: url).authority.contains("@") else {
            reader.report("write the user and the password under username and password", at: urlPlace)
            return nil
        }
        return .init(url: url, username: username, password: password)
    }

    private static func urlAdvice(_ scheme: String) -> String {
        "the URL has no host or contains a space; write \(scheme)://user:password@host:port/path with special "
            + "characters of the password percent-encoded"
    }

    private static func hasHost(_ url: String) -> Bool {
        let host = CameraAddress(text: url).authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
        return !host.isEmpty && !host.hasPrefix(":") && url.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }
    }

    /// Whether a URL can be read by the source that connects, whose port is from 1 to 65535. Reports what is wrong.
    private func canConnect(to url: String, at place: YAMLReader.Place) -> Bool {
        // All of them read host, port and user like those of an RTSP address.
        let rest = url.drop { $0 != "/" }.dropFirst(2)
        do throws(RTSPError) {
            _ = try RTSPURL(parsing: "rtsp://" + rest)
            return true
        } catch {
            if case .invalidURL(let reason) = error {
                reader.report("the URL cannot be used: \(reason)", at: place)
            } else {
                reader.report("the URL cannot be read", at: place)
            }
            return false
        }
    }

    /// Replaces `${NAME}` with the environment's values, so a password does not have to be in the file. `$${` is a
    /// literal `${`.
    func substituted(_ text: String, at place: YAMLReader.Place) -> String? {
        do throws(EnvironmentReferences.Failure) {
            return try EnvironmentReferences.replaced(in: text, environment: environment)
        } catch {
            switch error {
            case .open: reader.report("\"${\" has no closing \"}\"", at: place)
            case .unknown(let name): reader.report("the environment variable \(name) is not set", at: place)
            }
            return nil
        }
    }

    static func isIdentifier(_ text: String) -> Bool {
        guard (1...64).contains(text.utf8.count), let first = text.utf8.first else { return false }
        func isLetterOrDigit(_ byte: UInt8) -> Bool {
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
        }
        return isLetterOrDigit(first) && text.utf8.allSatisfy { isLetterOrDigit($0) || "._-".utf8.contains($0) }
    }
}

import HTTPMedia
import ONVIF
import RTSP
import Testing
import Transport

@testable import Cameras

/// The settings of a camera, on a device that answers by a script. What the requests contain is checked against
/// ONVIF's own schema by a test with the device simulator.
@Suite(.timeLimit(.minutes(10))) struct ONVIFSettingsControlTests {
    /// What the scripted device has been set to.
    private struct Device {
        var filter = "AUTO"
        var rotate = "<tt:Mode>OFF</tt:Mode>"
        var level = 5
        /// Whether it has a loudspeaker with a level.
        var hasSpeaker = false
        var asked: [String] = []
    }

    /// A device; `answer` says something else to an operation than the usual.
    private static func camera(
        _ device: Locked<Device>, _ answer: @escaping @Sendable (String) -> [CameraSimulator.Step]? = { _ in nil }
    ) throws -> CameraSimulator {
        try CameraSimulator { request in
            let action = request.header("content-type") ?? ""
            let operation = String(action.split(separator: "/").last?.dropLast() ?? "")
            device.withLock { $0.asked.append(operation) }
            if let steps = answer(operation) { return steps }
            return [.text(Self.response(Self.body(of: operation, device, port: request.header("host") ?? "")))]
        }
    }

    private static func body(of operation: String, _ device: Locked<Device>, port host: String) -> String {
        let (filter, rotate, level, hasSpeaker) = device.withLock { ($0.filter, $0.rotate, $0.level, $0.hasSpeaker) }
        if operation.contains("AudioOutput"), !hasSpeaker { return "<tds:Nothing/>" }
        switch operation {
        case "GetServices":
            return "<tds:GetServicesResponse><tds:Service><tds:Namespace>http://www.onvif.org/ver10/media/wsdl"
                + "</tds:Namespace><tds:XAddr>http://\(host)/media</tds:XAddr></tds:Service><tds:Service><tds:Namespace>"
                + "http://www.onvif.org/ver20/imaging/wsdl</tds:Namespace><tds:XAddr>http://\(host)/imaging</tds:XAddr>"
                + "</tds:Service></tds:GetServicesResponse>"
        case "GetProfiles":
            return "<trt:GetProfilesResponse><trt:Profiles token=\"p\"><tt:Name>main</tt:Name>"
                + "<tt:VideoSourceConfiguration token=\"c\"><tt:SourceToken>s</tt:SourceToken>"
                + "</tt:VideoSourceConfiguration><tt:VideoEncoderConfiguration><tt:Encoding>H264</tt:Encoding>"
                + "</tt:VideoEncoderConfiguration></trt:Profiles></trt:GetProfilesResponse>"
        case "GetOptions":
            return "<timg:GetOptionsResponse><timg:ImagingOptions><tt:IrCutFilterModes>ON</tt:IrCutFilterModes>"
                + "<tt:IrCutFilterModes>AUTO</tt:IrCutFilterModes></timg:ImagingOptions></timg:GetOptionsResponse>"
        case "GetImagingSettings":
            return "<timg:GetImagingSettingsResponse><timg:ImagingSettings><tt:IrCutFilter>\(filter)</tt:IrCutFilter>"
                + "</timg:ImagingSettings></timg:GetImagingSettingsResponse>"
        case "SetImagingSettings":
            device.withLock { $0.filter = "ON" }
            return "<timg:SetImagingSettingsResponse/>"
        case "GetVideoSourceConfigurationOptions":
            return "<trt:R><trt:Options><tt:Extension><tt:Rotate><tt:Mode>OFF</tt:Mode><tt:Mode>ON</tt:Mode>"
                + "</tt:Rotate></tt:Extension></trt:Options></trt:R>"
        case "GetVideoSourceConfiguration":
            return "<trt:R><trt:Configuration token=\"c\"><tt:Name>n</tt:Name><tt:Extension><tt:Rotate>\(rotate)"
                + "</tt:Rotate></tt:Extension></trt:Configuration></trt:R>"
        case "GetAudioOutputConfigurations":
            return
                "<trt:R><trt:Configurations token=\"h\"><tt:OutputLevel>\(level)</tt:OutputLevel></trt:Configurations>"
                + "</trt:R>"
        case "GetAudioOutputConfiguration":
            return "<trt:R><trt:Configuration token=\"h\"><tt:OutputLevel>\(level)</tt:OutputLevel></trt:Configuration>"
                + "</trt:R>"
        case "GetAudioOutputConfigurationOptions":
            return "<trt:R><trt:Options><tt:OutputLevelRange><tt:Min>1</tt:Min><tt:Max>9</tt:Max></tt:OutputLevelRange>"
                + "</trt:Options></trt:R>"
        case "SetAudioOutputConfiguration":
            device.withLock { $0.level = 8 }
            return "<trt:SetAudioOutputConfigurationResponse/>"
        case "SetVideoSourceConfiguration":
            device.withLock { $0.rotate = "<tt:Mode>ON</tt:Mode>" }
            return "<trt:SetVideoSourceConfigurationResponse/>"
        default: return "<tds:Nothing/>"
        }
    }

    private static func response(_ body: String, status: String = "200 OK") -> String {
        let envelope =
            "<s:Envelope xmlns:s=\"http://www.w3.org/2003/05/soap-envelope\" "
            + "xmlns:tt=\"http://www.onvif.org/ver10/schema\" xmlns:tds=\"http://www.onvif.org/ver10/device/wsdl\" "
            + "xmlns:timg=\"http://www.onvif.org/ver20/imaging/wsdl\" "
            + "xmlns:trt=\"http://www.onvif.org/ver10/media/wsdl\"><s:Body>\(body)</s:Body></s:Envelope>"
        return "HTTP/1.1 \(status)\r\nContent-Length: \(envelope.utf8.count)\r\n\r\n\(envelope)"
    }

    private static func fault(_ code: String) -> [CameraSimulator.Step] {
        [
            .text(
                response(
                    "<s:Fault><s:Code><s:Value>s:Sender</s:Value><s:Subcode><s:Value>\(code)</s:Value></s:Subcode>"
                        + "</s:Code><s:Reason><s:Text>refused</s:Text></s:Reason></s:Fault>", status: "400 Bad Request")
            )
        ]
    }

    private static func control(
        _ camera: CameraSimulator, limit: Duration = .seconds(60), interval: Duration = .seconds(3_600)
    ) -> ONVIFSettingsControl {
        ONVIFSettingsControl(
            device: HTTPAddress(onvif: "127.0.0.1", port: camera.port), credentials: nil, limit: limit,
            interval: interval)
    }

    /// The states that a control has, from a first reading on.
    private static func states(of control: ONVIFSettingsControl) -> AsyncStream<ONVIFSettingsState> {
        let (states, found) = AsyncStream<ONVIFSettingsState>.makeStream()
        control.observe(as: 1) { found.yield($0) }
        control.refresh()
        return states
    }

    /// Reads the settings, and returns them once they are there.
    private static func read(_ control: ONVIFSettingsControl) async throws -> ONVIFSettingsState {
        defer { control.stopObserving(1) }
        for await state in states(of: control) { return state }
        throw CancellationError()
    }

    @Test func `what is changed at the camera itself is found`() async throws {
        let device = Locked(Device())
        let camera = try Self.camera(device)
        defer { camera.stop() }
        let control = Self.control(camera, interval: .milliseconds(5))
        var states = Self.states(of: control).makeAsyncIterator()
        #expect(await states.next()?.settings.nightVision == .auto)
        let asked = device.withLock { device in
            device.filter = "ON"
            return device.asked.count
        }
        #expect(await states.next()?.settings.nightVision == .off)
        control.stop()
        // Where they are is known, so only they are asked for.
        let since = device.withLock { Set($0.asked.dropFirst(asked)) }
        #expect(since.isSubset(of: ["GetImagingSettings", "GetVideoSourceConfiguration"]), "\(since)")
    }

    @Test func `a camera that once gave no useful answer is asked again, and where the settings are`() async throws {
        let device = Locked(Device())
        let isBroken = Locked(false)
        let camera = try Self.camera(device) { operation in
            guard isBroken.withLock({ $0 }), operation == "GetImagingSettings" else { return nil }
            isBroken.withLock { $0 = false }
            device.withLock { $0.filter = "ON" }
            return [.close]
        }
        defer { camera.stop() }
        let control = Self.control(camera, interval: .milliseconds(5))
        var states = Self.states(of: control).makeAsyncIterator()
        #expect(await states.next()?.settings.nightVision == .auto)
        let asked = device.withLock { $0.asked.count }
        isBroken.withLock { $0 = true }
        #expect(await states.next()?.settings.nightVision == .off)
        control.stop()
        #expect(device.withLock { $0.asked.dropFirst(asked).contains("GetServices") })
    }

    @Test func `a camera that refuses the password is not asked again by itself`() async throws {
        let device = Locked(Device())
        let refusals = Locked(0)
        let (refused, isRefused) = AsyncStream<Void>.makeStream()
        let camera = try Self.camera(device) { operation in
            guard operation == "GetImagingSettings", device.withLock({ $0.filter }) == "ON" else { return nil }
            refusals.withLock { $0 += 1 }
            isRefused.yield()
            return Self.fault("ter:NotAuthorized")
        }
        defer { camera.stop() }
        let control = Self.control(camera, interval: .milliseconds(5))
        var states = Self.states(of: control).makeAsyncIterator()
        #expect(await states.next() != nil)
        device.withLock { $0.filter = "ON" }
        var waiting = refused.makeAsyncIterator()
        await waiting.next()
        // Changes take longer than it would wait. Each of them reads what has become of it, and nothing else is refused.
        for _ in 0..<20 { _ = try await control.set(ONVIFSettings(rotation: 180)) }
        #expect(refusals.withLock { $0 } == 21)
        control.stop()
    }

    @Test func `what the camera offers is read, and changed`() async throws {
        let device = Locked(Device())
        let camera = try Self.camera(device)
        defer { camera.stop() }
        let control = Self.control(camera)
        let before = try await Self.read(control)
        #expect(
            before
                == ONVIFSettingsState(
                    settings: ONVIFSettings(nightVision: .auto, rotation: 0), nightVisionModes: [.off, .auto],
                    rotations: [0, 180]))
        let asked = device.withLock { $0.asked.count }
        let after = try await control.set(ONVIFSettings(nightVision: .off, rotation: 180))
        #expect(after.settings == ONVIFSettings(nightVision: .off, rotation: 180))
        #expect(control.state == after)
        // Where the settings are is known. Only they are asked for again.
        #expect(
            device.withLock { Array($0.asked.dropFirst(asked)) } == [
                "SetImagingSettings", "GetVideoSourceConfiguration", "SetVideoSourceConfiguration",
                "GetImagingSettings", "GetVideoSourceConfiguration",
            ])
    }

    @Test func `the level of a loudspeaker is read, and changed`() async throws {
        let device = Locked(Device(hasSpeaker: true))
        let camera = try Self.camera(device)
        defer { camera.stop() }
        let control = Self.control(camera)
        let before = try await Self.read(control)
        #expect(before.settings.speakerLevel == 5 && before.speakerLevels == 1...9)
        let asked = device.withLock { $0.asked.count }
        let after = try await control.set(ONVIFSettings(speakerLevel: 8))
        #expect(after.settings.speakerLevel == 8 && after.settings.nightVision == .auto)
        #expect(
            device.withLock { Array($0.asked.dropFirst(asked).prefix(2)) } == [
                "GetAudioOutputConfiguration", "SetAudioOutputConfiguration",
            ])
    }

    @Test func `a camera without the services has no settings`() async throws {
        let device = Locked(Device())
        let camera = try Self.camera(device) { operation in
            switch operation {
            case "GetServices", "GetCapabilities", "GetVideoSourceConfigurationOptions":
                Self.fault("ter:ActionNotSupported")
            default: nil
            }
        }
        defer { camera.stop() }
        #expect(try await Self.read(Self.control(camera)) == ONVIFSettingsState())
    }

    @Test func `an answer that is broken costs only the settings in it`() async throws {
        let device = Locked(Device())
        let camera = try Self.camera(device) { operation in
            operation == "GetOptions" ? [.text(Self.response("<timg:Oops>"))] : nil
        }
        defer { camera.stop() }
        #expect(
            try await Self.read(Self.control(camera))
                == ONVIFSettingsState(settings: ONVIFSettings(rotation: 0), rotations: [0, 180]))
    }

    @Test func `what the camera refuses is thrown, and read again`() async throws {
        let device = Locked(Device())
        let camera = try Self.camera(device) { operation in
            operation == "SetImagingSettings" ? Self.fault("ter:SettingsInvalid") : nil
        }
        defer { camera.stop() }
        let control = Self.control(camera)
        _ = try await Self.read(control)
        // Somebody has turned the picture at the camera itself.
        device.withLock { $0.rotate = "<tt:Mode>ON</tt:Mode>" }
        let (states, found) = AsyncStream<ONVIFSettingsState>.makeStream()
        control.observe(as: 2) { found.yield($0) }
        let error = await #expect(throws: ONVIFError.self) {
            try await control.set(ONVIFSettings(nightVision: .off))
        }
        #expect(error == .fault(SOAPFault(codes: ["Sender", "SettingsInvalid"], reason: "refused")))
        for await state in states {
            #expect(state.settings == ONVIFSettings(nightVision: .auto, rotation: 180))
            break
        }
    }

    @Test func `a camera that restarts to turn its picture has accepted it`() async throws {
        let device = Locked(Device())
        let camera = try Self.camera(device) { operation in
            operation == "GetVideoSourceConfiguration" && device.withLock { $0.rotate.contains("ON") }
                ? [.reset] : nil
        }
        defer { camera.stop() }
        let control = Self.control(camera)
        _ = try await Self.read(control)
        let after = try await control.set(ONVIFSettings(rotation: 180))
        #expect(after.settings == ONVIFSettings(nightVision: .auto, rotation: 180))
    }

    @Test func `a camera that does not answer is given up at the deadline`() async throws {
        let device = Locked(Device())
        let camera = try Self.camera(device) { operation in operation == "SetImagingSettings" ? [] : nil }
        defer { camera.stop() }
        let reader = Self.control(camera)
        _ = try await Self.read(reader)
        reader.stop()
        let stopped = await #expect(throws: ONVIFError.self) {
            try await reader.set(ONVIFSettings(nightVision: .off))
        }
        #expect(stopped == .stopped)
        let error = await #expect(throws: ONVIFError.self) {
            try await Self.control(camera, limit: .seconds(1)).set(ONVIFSettings(nightVision: .off))
        }
        guard case .noAnswer = error else {
            Issue.record("expected no answer, got \(String(describing: error))")
            return
        }
    }
}

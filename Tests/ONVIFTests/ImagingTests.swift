import HTTPMedia
import Testing
import Transport
import XML

@testable import ONVIF

@Suite struct ImagingTests {
    private let address = HTTPAddress(onvif: "192.0.2.9")

    private func read(_ bytes: [UInt8]) throws -> XMLElement { try SOAPEnvelope.body(of: bytes) }

    /// A request's body as a camera reads it.
    private func body(_ request: ONVIFRequest) throws -> XMLElement {
        try #require(
            XMLReader.read(Array(request.envelope(token: nil, messageID: (1, 2)).utf8))["Body"]?.children.first)
    }

    @Test func `settings and options are read`() throws {
        let settings = ImagingService.settings(try read(Answers.imagingSettings))
        #expect(settings == ImagingSettings(irCutFilter: .auto, wideDynamicRange: false))
        let options = ImagingService.options(try read(Answers.imagingOptions))
        #expect(options == ImagingOptions(irCutFilterModes: [.on, .off, .auto], hasWideDynamicRange: true))
    }

    @Test func `what is missing or unknown counts as none`() throws {
        for content in [
            "", "<timg:ImagingSettings/>",
            "<timg:ImagingSettings><tt:IrCutFilter>DUSK</tt:IrCutFilter>"
                + "<tt:WideDynamicRange><tt:Mode>SOMETIMES</tt:Mode></tt:WideDynamicRange></timg:ImagingSettings>",
        ] {
            let answer = try read(Answers.envelope("<timg:R>\(content)</timg:R>", namespaces: Answers.imaging))
            #expect(ImagingService.settings(answer) == ImagingSettings(), "\(content)")
        }
        // A single mode of wide dynamic range is not a choice.
        let single = try read(
            Answers.envelope(
                "<timg:R><timg:ImagingOptions><tt:IrCutFilterModes>on</tt:IrCutFilterModes><tt:WideDynamicRange>"
                    + "<tt:Mode>ON</tt:Mode></tt:WideDynamicRange></timg:ImagingOptions></timg:R>",
                namespaces: Answers.imaging))
        #expect(ImagingService.options(single) == ImagingOptions(irCutFilterModes: [.on]))
    }

    @Test func `a request holds only what is to be changed`() throws {
        let night = try body(
            ImagingService.setImagingSettings(address, source: "a&b", ImagingSettings(irCutFilter: .off)))
        #expect(night["VideoSourceToken"]?.text == "a&b")
        #expect(night["ForcePersistence"]?.text == "true")
        let settings = try #require(night["ImagingSettings"])
        #expect(settings.children.map(\.name.local) == ["IrCutFilter"])
        #expect(settings["IrCutFilter"]?.text == "OFF")
        #expect(settings["IrCutFilter"]?.name.namespace == XMLNamespace.schema)
        let both = try body(
            ImagingService.setImagingSettings(
                address, source: "s", ImagingSettings(irCutFilter: .on, wideDynamicRange: true)))
        #expect(both["ImagingSettings"]?.children.map(\.name.local) == ["IrCutFilter", "WideDynamicRange"])
        #expect(both["ImagingSettings"]?["WideDynamicRange"]?["Mode"]?.text == "ON")
    }

    private func configuration(_ rotate: String) throws -> VideoSourceConfiguration {
        try VideoSourceConfiguration(
            try read(Answers.envelope("<trt:R><trt:Configuration token=\"c\">\(rotate)</trt:Configuration></trt:R>")))
    }

    @Test(
        arguments: [
            ("", 0), ("<tt:Extension/>", 0),
            ("<tt:Extension><tt:Rotate><tt:Mode>OFF</tt:Mode><tt:Degree>90</tt:Degree></tt:Rotate></tt:Extension>", 0),
            ("<tt:Extension><tt:Rotate><tt:Mode>ON</tt:Mode></tt:Rotate></tt:Extension>", 180),
            ("<tt:Extension><tt:Rotate><tt:Mode>ON</tt:Mode><tt:Degree>90</tt:Degree></tt:Rotate></tt:Extension>", 90),
            (
                "<tt:Extension><tt:Rotate><tt:Mode>ON</tt:Mode><tt:Degree>-90</tt:Degree></tt:Rotate></tt:Extension>",
                180
            ),
            (
                "<tt:Extension><tt:Rotate><tt:Mode>ON</tt:Mode><tt:Degree>360</tt:Degree></tt:Rotate></tt:Extension>",
                180
            ),
            (
                "<tt:Extension><tt:Rotate><tt:Mode>AUTO</tt:Mode><tt:Degree>270</tt:Degree></tt:Rotate></tt:Extension>",
                270
            ),
        ] as [(String, UInt16)])
    func `a rotation is read`(text: String, degrees: UInt16) throws {
        #expect(try configuration(text).rotation == degrees)
    }

    @Test func `a rotation is changed and all else stays`() throws {
        let answer = try read(Answers.videoSourceConfiguration)
        var changed = try VideoSourceConfiguration(answer)
        #expect(changed.rotation == 180)
        changed.rotation = 90
        #expect(changed.rotation == 90)
        let request = try body(MediaService.setVideoSourceConfiguration(address, changed))
        #expect(request["ForcePersistence"]?.text == "true")
        var sent = try #require(request["Configuration"])
        #expect(sent.name.namespace == XMLNamespace.media)
        #expect(sent["Extension"]?["Rotate"]?.children.map(\.text) == ["ON", "90"])
        #expect(sent["Extension"]?["Extension"]?["SceneOrientation"]?["Mode"]?.text == "AUTO")
        let before = try #require(answer["Configuration"])
        sent.children.removeAll { $0.name.local == "Extension" }
        var rest = before
        rest.children.removeAll { $0.name.local == "Extension" }
        #expect(sent == rest)
        changed.rotation = 0
        let back = try body(MediaService.setVideoSourceConfiguration(address, changed))
        #expect(back["Configuration"]?["Extension"]?["Rotate"]?.children.map(\.text) == ["OFF"])
        // One without an extension gets one, after everything else.
        var plain = try configuration("<tt:Name>n</tt:Name>")
        plain.rotation = 180
        let made = try body(MediaService.setVideoSourceConfiguration(address, plain))
        #expect(made["Configuration"]?.children.map(\.name.local) == ["Name", "Extension"])
        #expect(plain.rotation == 180)
        #expect(throws: ONVIFError.self) { try VideoSourceConfiguration(try read(Answers.clock)) }
    }

    @Test(
        arguments: [
            ("", []), ("<tt:Mode>ON</tt:Mode>", []), ("<tt:Mode>OFF</tt:Mode><tt:Mode>AUTO</tt:Mode>", []),
            ("<tt:Mode>OFF</tt:Mode><tt:Mode>ON</tt:Mode>", [0, 180]),
            (
                "<tt:Mode>OFF</tt:Mode><tt:Mode>ON</tt:Mode><tt:DegreeList><tt:Items>90</tt:Items><tt:Items>-1</tt:Items>"
                    + "<tt:Items>270</tt:Items><tt:Items>x</tt:Items></tt:DegreeList>", [0, 90, 270]
            ),
            (
                "<tt:Mode>OFF</tt:Mode><tt:Mode>ON</tt:Mode><tt:DegreeList><tt:Items>0</tt:Items></tt:DegreeList>", []
            ),
        ] as [(String, Set<UInt16>)])
    func `the degrees that a camera offers are read`(text: String, degrees: Set<UInt16>) throws {
        let answer = try read(
            Answers.envelope(
                "<trt:R><trt:Options><tt:Extension><tt:Rotate>\(text)</tt:Rotate></tt:Extension></trt:Options></trt:R>")
        )
        #expect(MediaService.rotations(answer) == degrees)
    }

    @Test func `the level of a loudspeaker is read and changed, and all else stays`() throws {
        let answer = try read(Answers.audioOutputs)
        var changed = try AudioOutputConfiguration(answer)
        #expect(changed.token == "horn" && changed.level == 40)
        changed.setLevel(100)
        #expect(changed.level == 100)
        let sent = try #require(
            try body(MediaService.setAudioOutputConfiguration(address, changed))["Configuration"])
        var expected = try #require(answer["Configurations"])
        expected.name.local = "Configuration"
        #expect(sent != expected)
        let position = try #require(expected.children.firstIndex { $0.name.local == "OutputLevel" })
        expected.children[position].text = "100"
        #expect(sent == expected)
        #expect(throws: ONVIFError.self) { try AudioOutputConfiguration(try read(Answers.clock)) }
    }

    @Test(
        arguments: [
            ("", nil), ("<tt:Min>0</tt:Min><tt:Max>100</tt:Max>", 0...100),
            ("<tt:Min>5</tt:Min><tt:Max>5</tt:Max>", nil),
            ("<tt:Min>9</tt:Min><tt:Max>1</tt:Max>", nil), ("<tt:Min>-10</tt:Min><tt:Max>10</tt:Max>", nil),
            ("<tt:Min>0</tt:Min><tt:Max>255</tt:Max>", nil), ("<tt:Min>0</tt:Min><tt:Max>254</tt:Max>", 0...254),
            ("<tt:Min>0</tt:Min>", nil),
        ] as [(String, ClosedRange<UInt8>?)])
    func `the levels that a loudspeaker offers are read`(text: String, levels: ClosedRange<UInt8>?) throws {
        let answer = try read(
            Answers.envelope(
                "<trt:R><trt:Options><tt:OutputLevelRange>\(text)</tt:OutputLevelRange></trt:Options></trt:R>"))
        #expect(MediaService.outputLevels(answer) == levels)
    }

    @Test func `the services and the video source are found`() throws {
        let services = DeviceService.services(try read(Answers.services), given: address)
        #expect(services.imaging?.path == "/onvif/imaging_service")
        let profiles = MediaService.profiles(try read(Answers.profiles))
        #expect(profiles.map(\.videoSource) == ["sensor"])
        #expect(profiles.map(\.videoSourceConfiguration) == ["lens"])
    }
}

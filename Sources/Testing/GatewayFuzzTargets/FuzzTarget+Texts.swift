import Foundation
import FuzzTargets
import Gateway
import HomeTypes
import Migration

/// The targets that need a package: YAML and JSON.
extension FuzzTarget {
    /// All targets of the upper floors.
    public static let texts: [FuzzTarget] = [yaml, otherGateways, json, cloud, sdm, eventStream]

    static let yaml = FuzzTarget(
        "yaml", "a config file, and a file of the API's cameras", maximumLength: 4096, dictionary: yamlWords,
        seeds: {
            [
                "http:\n  host: 127.0.0.1\n  port: 8180\n  https: false\nmedia:\n  port: 8189\n  addresses: [192.0.2.7]\n",
                "sessions:\n  durationSeconds: 300\nlog: {level: info, format: json, showAddresses: true}\n",
                "cameras:\n- id: door\n  name: &n \"Front door\"\n  type: doorbell\n  source: builtin:doorbell\n"
                    + "- id: yard\n  name: *n\n  source: rtsp://user:${NAME}@192.0.2.7/live\n  substream: onvif\n"
                    + "  onvif: {url: 'http://192.0.2.7/onvif', username: u, password: p}\n  pull: on-demand\n",
                "rtsp:\n  host: \"::\"\n  port: 8554\n# a comment\n---\n? [a, b]\n: !!binary aGVsbG8=\n",
            ].map { Array($0.utf8) }
        }
    ) { bytes throws(FuzzFailure) in
        let text = String(decoding: bytes, as: UTF8.self)
        if let cameras = ConfigurationTexts.readConfig(text), Set(cameras).count != cameras.count {
            throw FuzzFailure("two cameras with one id")
        }
        if ConfigurationTexts.cameraFileIsStable(text) == false {
            throw FuzzFailure("what was read of a camera and written reads otherwise")
        }
    }

    static let otherGateways = FuzzTarget(
        "other-gateways", "the configs of other gateways", maximumLength: 4096, dictionary: yamlWords + otherWords,
        seeds: {
            [
                "streams:\n  yard:\n  - rtsp://u:${P:x}@192.0.2.7/1#transport=udp\n  - ffmpeg:yard#audio=opus\n"
                    + "  yard_sub: rtsp://192.0.2.7/2\nwebrtc: {candidates: ['192.0.2.1:8555', 'stun:8555']}\n",
                "paths:\n  a: &a {source: 'rtsp://192.0.2.7/1', record: yes, recordDeleteAfter: 25h}\n"
                    + "  b: {<<: *a, sourceOnDemand: yes}\n  ~^c: {runOnInit: x}\nwebrtcICEServers2: [{url: 'turn:t'}]\n",
                "cameras:\n  door:\n    ffmpeg: {inputs: [{path: 'rtsp://127.0.0.1:8554/d', roles: [record]}]}\n"
                    + "    record: {enabled: true, retain: {days: 0.5}}\ngo2rtc: {streams: {d: 'rtsp://{FRIGATE_H}/1'}}\n",
            ].map { Array($0.utf8) }
        }
    ) { bytes throws(FuzzFailure) in
        guard let imported = try? ConfigurationImport.read(Array(bytes)) else { return }
        guard let ids = ConfigurationTexts.readConfig(imported.yaml(from: "old")) else { return }
        if Set(ids).count != ids.count { throw FuzzFailure("two cameras with one id") }
        if ids != imported.cameras.map(\.id) {
            throw FuzzFailure("the cameras of the new config are not the imported ones")
        }
    }

    static let json = FuzzTarget(
        "json", "the bodies of requests to the API", maximumLength: 4096, dictionary: jsonWords,
        seeds: {
            [
                #"{"name":"Door","type":"doorbell","source":"rtsp://u:p@192.0.2.7/live","pull":"on-demand"}"#,
                #"{"source":"onvif://192.0.2.7","onvif":{"url":"http://192.0.2.7/x","password":"${SECRET}"},"webhook":true}"#,
                #"{"source":"rtsp://u:$${SECRET}@h/","name":null,"transcodeVideo":false,"substream":["x",1.5e300]}"#,
                #"{"offerSdp":"v=0\r\n","mediaSessionId":"a","extendedDurationSeconds":300,"qualityHint":1}"#,
                #"{"event":"motion","phase":"began"}"#,
                #"{"network":{"stun":["a"],"tcp":443},"mqtt":{"host":"b","port":"x","presence":{"A":["w"]}},"cameras":[{}]}"#,
            ].map { Array($0.utf8) }
        }
    ) { bytes throws(FuzzFailure) in
        let body = Array(bytes)
        // No client of the API reads the gateway's environment.
        let camera = ConfigurationTexts.readCameraBody(body, environment: ["SECRET": "secret-word"])
        if camera?.contains("secret-word") == true, !String(decoding: body, as: UTF8.self).contains("secret-word") {
            throw FuzzFailure("a body has read the environment")
        }
        observe(ConfigurationTexts.checkDraft(body))
        let data = Data(body)
        let decoder = JSONDecoder()
        typealias Live = Google.WebRtcLiveViewTrait
        observe(try? decoder.decode(Live.StartLiveViewCommand.self, from: data))
        observe(try? decoder.decode(Live.ExtendLiveViewCommand.self, from: data))
        observe(try? decoder.decode(Live.StopLiveViewCommand.self, from: data))
        observe(try? decoder.decode(Live.StartTalkbackCommand.self, from: data))
        observe(try? decoder.decode(Live.ChangeLiveViewQualityCommand.self, from: data))
        observe(try? decoder.decode(ReportedEvent.self, from: data))
    }

    private static let yamlWords = [
        "cameras:", "- id: ", "name: ", "type: doorbell", "source: ", "substream: ", "transport: tcp",
        "pull: on-demand",
        "onvif: ", "url: ", "password: ", "http:", "https: ", "port: ", "media:", "sessions:", "log:", "rtsp:", "&a ",
        "*a", "<<: ", "!!str ", "!!binary ", "? ", "|\n", ">-\n", "---\n", "...\n", "${NAME}", "$${", "\"", "'", "~",
        "{}",
    ]

    private static let otherWords = [
        "streams:", "paths:", "pathDefaults:", "ffmpeg:", "inputs:", "path: ", "roles: [record]", "webrtc:",
        "candidates: ",
        "ice_servers:", "record: ", "retain: ", "days: ", "exec:", "rtspx://", "onvif://", "#backchannel=0",
        "all_others",
        "{FRIGATE_X}", "${X:y}", "publisher", "sourceOnDemand: yes",
    ]

    private static let jsonWords = [
        "\"source\":", "\"name\":", "\"onvif\":", "\"password\":", "\"url\":", "\"type\":", "\"transcodeVideo\":",
        "null",
        "true", "\\u0000", "\\ud800", "1e400", "-0", "[[[[", "${SECRET}", "$${SECRET}", "rtsp://", "\"offerSdp\":",
        "\"mediaSessionId\":", "\"event\":",
    ]
}

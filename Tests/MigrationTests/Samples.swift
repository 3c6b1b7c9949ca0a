/// A config of go2rtc as owners have it.
let go2rtcSample = """
    api:
      listen: ":1984"
      username: admin
      password: letmein
      origin: "*"
    rtsp:
      listen: ":8554"
    webrtc:
      listen: ":8555"
      candidates:
        - 198.51.100.7:8555
        - stun:8555
        - "[2001:db8::7]:8555"
      ice_servers:
        - urls: ["stun:stun.example:3478", "turn:turn.example:3478"]
          username: viewer
          credential: hidden
    ffmpeg:
      bin: /usr/bin/ffmpeg
    streams:
      front_doorbell:
        - rtsp://admin:${DOOR_PASSWORD:changeme}@192.0.2.20:554/h264Preview_01_main#backchannel=0
        - ffmpeg:front_doorbell#audio=opus
      yard: rtsp://admin:letmein@192.0.2.21/stream1#transport=udp
      yard_sub: rtsp://admin:letmein@192.0.2.21/stream2
      garage:
        - ffmpeg:rtsp://192.0.2.22/1#video=h264#audio=opus
        - rtsp://192.0.2.22/2
        - rtsp://192.0.2.22/3
      gate: onvif://admin:letmein@192.0.2.23:8000?subtype=MediaProfile00000
      protect: rtspx://192.0.2.1:7441/abc
      phone: ""
      desk: exec:ffmpeg -f v4l2 -i /dev/video0 -f rtsp {output}
      feeder: http://192.0.2.24/mjpg
      both:
        - tapo://letmein@192.0.2.25
        - rtsp://192.0.2.25/stream1
    homekit:
      yard: {pin: 12345678}
    log:
      level: debug
    """

/// A config of MediaMTX as owners have it.
let mediaMTXSample = """
    logLevel: info
    api: yes
    rtsp: yes
    rtspAddress: :8554
    rtmp: yes
    hls: no
    webrtcLocalUDPAddress: :8189
    webrtcLocalTCPAddress: ''
    webrtcAdditionalHosts: [198.51.100.7, cams.example]
    webrtcICEServers2:
      - url: turn:turn.example:3478
        username: viewer
        password: hidden
        clientOnly: no
    authMethod: internal
    authInternalUsers:
      - user: any
        pass:
        permissions: [{action: read}]
    pathDefaults:
      rtspTransport: tcp
      recordDeleteAfter: 36h
    paths:
      yard:
        source: rtsp://admin:letmein@192.0.2.21:554/stream1
        sourceOnDemand: yes
      street/left:
        source: rtsps://192.0.2.22/1
        sourceFingerprint: 33949E05FFFB5FF3E8AA16F8213A6251B4D9363804BA53233C4DA9A46D6F2739
        rtspTransport: udp
        record: yes
      phone:
      tv:
        source: https://video.example/live.m3u8
      desk:
        source: rpiCamera
      hall:
        source: publisher
        runOnInit: ffmpeg -re -i file.ts -c copy -f rtsp rtsp://localhost:$RTSP_PORT/$MTX_PATH
      ~^cam(.+)$:
        source: rtsp://192.0.2.$G1/1
      all_others:
    """

/// A config of Frigate as owners have it.
let frigateSample = """
    mqtt:
      host: broker.example
      port: 8883
      tls_ca_certs: /config/ca.pem
      user: frigate
      password: "{FRIGATE_MQTT_PASSWORD}"
      topic_prefix: frigate
    detectors:
      coral: {type: edgetpu, device: usb}
    record:
      enabled: true
      retain: {days: 7, mode: all}
      alerts: {retain: {days: 30}}
    go2rtc:
      streams:
        front:
          - rtsp://admin:${DOOR_PASSWORD}@192.0.2.20/main
          - "ffmpeg:front#audio=opus"
        front_low: rtsp://admin:{FRIGATE_DOOR_PASSWORD}@192.0.2.20/sub
    cameras:
      front:
        friendly_name: "Front: the door"
        ffmpeg:
          inputs:
            - path: rtsp://127.0.0.1:8554/front_low
              roles: [detect]
            - path: rtsp://127.0.0.1:8554/front?video=copy
              roles: [record, audio]
        onvif: {host: 192.0.2.20, port: 8000, user: admin, password: "{FRIGATE_DOOR_PASSWORD}"}
      yard:
        ffmpeg:
          input_args: preset-rtsp-udp
          inputs:
            - path: rtsp://admin:{FRIGATE_YARD_PASSWORD}@192.0.2.21/stream1
              roles: [detect]
        record: {enabled: true, retain: {days: 0}}
      pond:
        ffmpeg:
          inputs:
            - path: rtsp://192.0.2.22/1
        record: {enabled: false}
      shed:
        enabled: false
        ffmpeg: {inputs: [{path: "rtsp://192.0.2.23/1", roles: [detect]}]}
      nest:
        ffmpeg: {inputs: [{path: "srt://192.0.2.24:9000", roles: [detect]}]}
      coop:
        ffmpeg: {inputs: [{path: "http://192.0.2.25/flv?app=bcs", roles: [detect]}]}
    birdseye: {enabled: true}
    """

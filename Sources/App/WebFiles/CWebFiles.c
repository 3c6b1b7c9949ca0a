#include "CWebFiles.h"

// The compiler puts the files into the program: they stay files of their own kind for editors, linters and tests, and
// the gateway stays one file to copy. `#embed` is C23. Clang accepts it in older C too, and compiles this file again when
// one of the embedded files changes.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const char index_html[] = {
#embed "page/index.html"
};
static const char camera_html[] = {
#embed "page/camera.html"
};
static const char link_html[] = {
#embed "page/link.html"
};
static const char automations_css[] = {
#embed "page/automations.css"
};
static const char camera_css[] = {
#embed "page/camera.css"
};
static const char home_css[] = {
#embed "page/home.css"
};
static const char style_css[] = {
#embed "page/style.css"
};
static const char views_css[] = {
#embed "page/views.css"
};
static const char icon_svg[] = {
#embed "page/icon.svg"
};
static const char badge_96_png[] = {
#embed "page/badge-96.png"
};
static const char icon_192_png[] = {
#embed "page/icon-192.png"
};
static const char icon_512_png[] = {
#embed "page/icon-512.png"
};
static const char icon_maskable_512_png[] = {
#embed "page/icon-maskable-512.png"
};
static const char app_webmanifest[] = {
#embed "page/app.webmanifest"
};
static const char app_js[] = {
#embed "page/app.js"
};
static const char accepted_js[] = {
#embed "page/accepted.js"
};
static const char access_js[] = {
#embed "page/access.js"
};
static const char address_js[] = {
#embed "page/address.js"
};
static const char api_js[] = {
#embed "page/api.js"
};
static const char ask_js[] = {
#embed "page/ask.js"
};
static const char automation_api_js[] = {
#embed "page/automation-api.js"
};
static const char automation_buttons_js[] = {
#embed "page/automation-buttons.js"
};
static const char automation_details_js[] = {
#embed "page/automation-details.js"
};
static const char automation_editor_js[] = {
#embed "page/automation-editor.js"
};
static const char automation_list_js[] = {
#embed "page/automation-list.js"
};
static const char automation_store_js[] = {
#embed "page/automation-store.js"
};
static const char automation_words_js[] = {
#embed "page/automation-words.js"
};
static const char browser_media_js[] = {
#embed "page/browser-media.js"
};
static const char camera_addresses_js[] = {
#embed "page/camera-addresses.js"
};
static const char camera_connection_js[] = {
#embed "page/camera-connection.js"
};
static const char camera_controls_js[] = {
#embed "page/camera-controls.js"
};
static const char camera_dialog_js[] = {
#embed "page/camera-dialog.js"
};
static const char camera_edit_js[] = {
#embed "page/camera-edit.js"
};
static const char camera_fields_js[] = {
#embed "page/camera-fields.js"
};
static const char camera_lines_js[] = {
#embed "page/camera-lines.js"
};
static const char camera_model_js[] = {
#embed "page/camera-model.js"
};
static const char camera_page_js[] = {
#embed "page/camera-page.js"
};
static const char camera_probe_js[] = {
#embed "page/camera-probe.js"
};
static const char camera_settings_js[] = {
#embed "page/camera-settings.js"
};
static const char camera_source_js[] = {
#embed "page/camera-source.js"
};
static const char camera_tools_js[] = {
#embed "page/camera-tools.js"
};
static const char camera_view_js[] = {
#embed "page/camera-view.js"
};
static const char candidates_js[] = {
#embed "page/candidates.js"
};
static const char chime_js[] = {
#embed "page/chime.js"
};
static const char climate_controls_js[] = {
#embed "page/climate-controls.js"
};
static const char colors_js[] = {
#embed "page/colors.js"
};
static const char condition_rows_js[] = {
#embed "page/condition-rows.js"
};
static const char config_lines_js[] = {
#embed "page/config-lines.js"
};
static const char configuration_js[] = {
#embed "page/configuration.js"
};
static const char connection_js[] = {
#embed "page/connection.js"
};
static const char control_fields_js[] = {
#embed "page/control-fields.js"
};
static const char controls_js[] = {
#embed "page/controls.js"
};
static const char device_dialog_js[] = {
#embed "page/device-dialog.js"
};
static const char dialog_js[] = {
#embed "page/dialog.js"
};
static const char doctor_dialog_js[] = {
#embed "page/doctor-dialog.js"
};
static const char dom_js[] = {
#embed "page/dom.js"
};
static const char doorbell_js[] = {
#embed "page/doorbell.js"
};
static const char editor_controls_js[] = {
#embed "page/editor-controls.js"
};
static const char event_stream_js[] = {
#embed "page/event-stream.js"
};
static const char events_js[] = {
#embed "page/events.js"
};
static const char file_cameras_js[] = {
#embed "page/file-cameras.js"
};
static const char findings_js[] = {
#embed "page/findings.js"
};
static const char footage_player_js[] = {
#embed "page/footage-player.js"
};
static const char footage_js[] = {
#embed "page/footage.js"
};
static const char gateway_clock_js[] = {
#embed "page/gateway-clock.js"
};
static const char grant_fields_js[] = {
#embed "page/grant-fields.js"
};
static const char grant_rows_js[] = {
#embed "page/grant-rows.js"
};
static const char graph_reading_js[] = {
#embed "page/graph-reading.js"
};
static const char graph_writing_js[] = {
#embed "page/graph-writing.js"
};
static const char happening_js[] = {
#embed "page/happening.js"
};
static const char history_view_js[] = {
#embed "page/history-view.js"
};
static const char history_words_js[] = {
#embed "page/history-words.js"
};
static const char home_reader_js[] = {
#embed "page/home-reader.js"
};
static const char home_js[] = {
#embed "page/home.js"
};
static const char ice_restart_js[] = {
#embed "page/ice-restart.js"
};
static const char identifier_js[] = {
#embed "page/identifier.js"
};
static const char kept_focus_js[] = {
#embed "page/kept-focus.js"
};
static const char kept_sound_js[] = {
#embed "page/kept-sound.js"
};
static const char kinds_js[] = {
#embed "page/kinds.js"
};
static const char late_faults_js[] = {
#embed "page/late-faults.js"
};
static const char leaving_js[] = {
#embed "page/leaving.js"
};
static const char light_controls_js[] = {
#embed "page/light-controls.js"
};
static const char lines_card_js[] = {
#embed "page/lines-card.js"
};
static const char link_js[] = {
#embed "page/link.js"
};
static const char live_connection_js[] = {
#embed "page/live-connection.js"
};
static const char live_edge_js[] = {
#embed "page/live-edge.js"
};
static const char live_fallback_js[] = {
#embed "page/live-fallback.js"
};
static const char live_fragments_js[] = {
#embed "page/live-fragments.js"
};
static const char live_lease_js[] = {
#embed "page/live-lease.js"
};
static const char live_paths_js[] = {
#embed "page/live-paths.js"
};
static const char live_session_js[] = {
#embed "page/live-session.js"
};
static const char live_silence_js[] = {
#embed "page/live-silence.js"
};
static const char live_view_js[] = {
#embed "page/live-view.js"
};
static const char live_words_js[] = {
#embed "page/live-words.js"
};
static const char liveness_js[] = {
#embed "page/liveness.js"
};
static const char loading_js[] = {
#embed "page/loading.js"
};
static const char media_controls_js[] = {
#embed "page/media-controls.js"
};
static const char media_feed_js[] = {
#embed "page/media-feed.js"
};
static const char media_sink_js[] = {
#embed "page/media-sink.js"
};
static const char missing_fields_js[] = {
#embed "page/missing-fields.js"
};
static const char moments_js[] = {
#embed "page/moments.js"
};
static const char mp4_boxes_js[] = {
#embed "page/mp4-boxes.js"
};
static const char network_change_js[] = {
#embed "page/network-change.js"
};
static const char newest_js[] = {
#embed "page/newest.js"
};
static const char notice_js[] = {
#embed "page/notice.js"
};
static const char one_at_a_time_js[] = {
#embed "page/one-at-a-time.js"
};
static const char one_sound_js[] = {
#embed "page/one-sound.js"
};
static const char opening_controls_js[] = {
#embed "page/opening-controls.js"
};
static const char optimism_js[] = {
#embed "page/optimism.js"
};
static const char panels_js[] = {
#embed "page/panels.js"
};
static const char part_controls_js[] = {
#embed "page/part-controls.js"
};
static const char path_loss_js[] = {
#embed "page/path-loss.js"
};
static const char path_report_js[] = {
#embed "page/path-report.js"
};
static const char picture_feed_js[] = {
#embed "page/picture-feed.js"
};
static const char picture_file_js[] = {
#embed "page/picture-file.js"
};
static const char picture_series_js[] = {
#embed "page/picture-series.js"
};
static const char picture_watch_js[] = {
#embed "page/picture-watch.js"
};
static const char places_dialog_js[] = {
#embed "page/places-dialog.js"
};
static const char places_js[] = {
#embed "page/places.js"
};
static const char presses_js[] = {
#embed "page/presses.js"
};
static const char preview_js[] = {
#embed "page/preview.js"
};
static const char push_dialog_js[] = {
#embed "page/push-dialog.js"
};
static const char push_js[] = {
#embed "page/push.js"
};
static const char quality_js[] = {
#embed "page/quality.js"
};
static const char readings_js[] = {
#embed "page/readings.js"
};
static const char reception_js[] = {
#embed "page/reception.js"
};
static const char recording_actions_js[] = {
#embed "page/recording-actions.js"
};
static const char recordings_api_js[] = {
#embed "page/recordings-api.js"
};
static const char recordings_js[] = {
#embed "page/recordings.js"
};
static const char rights_js[] = {
#embed "page/rights.js"
};
static const char run_drawing_js[] = {
#embed "page/run-drawing.js"
};
static const char run_path_js[] = {
#embed "page/run-path.js"
};
static const char service_worker_js[] = {
#embed "page/service-worker.js"
};
static const char settings_dialog_js[] = {
#embed "page/settings-dialog.js"
};
static const char settings_fields_js[] = {
#embed "page/settings-fields.js"
};
static const char settings_forms_js[] = {
#embed "page/settings-forms.js"
};
static const char share_dialog_js[] = {
#embed "page/share-dialog.js"
};
static const char share_link_js[] = {
#embed "page/share-link.js"
};
static const char shortcut_dialog_js[] = {
#embed "page/shortcut-dialog.js"
};
static const char shortcuts_js[] = {
#embed "page/shortcuts.js"
};
static const char sign_in_js[] = {
#embed "page/sign-in.js"
};
static const char snapshots_js[] = {
#embed "page/snapshots.js"
};
static const char start_report_js[] = {
#embed "page/start-report.js"
};
static const char starter_rows_js[] = {
#embed "page/starter-rows.js"
};
static const char status_js[] = {
#embed "page/status.js"
};
static const char step_rows_js[] = {
#embed "page/step-rows.js"
};
static const char talk_js[] = {
#embed "page/talk.js"
};
static const char text_de_js[] = {
#embed "page/text-de.js"
};
static const char text_en_js[] = {
#embed "page/text-en.js"
};
static const char text_js[] = {
#embed "page/text.js"
};
static const char tile_js[] = {
#embed "page/tile.js"
};
static const char timeline_bar_js[] = {
#embed "page/timeline-bar.js"
};
static const char timeline_js[] = {
#embed "page/timeline.js"
};
static const char token_js[] = {
#embed "page/token.js"
};
static const char trickle_js[] = {
#embed "page/trickle.js"
};
static const char value_fields_js[] = {
#embed "page/value-fields.js"
};
static const char view_frame_js[] = {
#embed "page/view-frame.js"
};
static const char view_trial_js[] = {
#embed "page/view-trial.js"
};
static const char views_js[] = {
#embed "page/views.js"
};
static const char visitors_js[] = {
#embed "page/visitors.js"
};
static const char wake_lock_js[] = {
#embed "page/wake-lock.js"
};
static const char wall_cell_js[] = {
#embed "page/wall-cell.js"
};
static const char wall_layout_js[] = {
#embed "page/wall-layout.js"
};
static const char wall_js[] = {
#embed "page/wall.js"
};
static const char webm_js[] = {
#embed "page/webm.js"
};
static const char wiring_js[] = {
#embed "page/wiring.js"
};
static const char words_js[] = {
#embed "page/words.js"
};
static const char zoom_gestures_js[] = {
#embed "page/zoom-gestures.js"
};
static const char zoom_js[] = {
#embed "page/zoom.js"
};
static const char openapi_yaml[] = {
#embed "openapi.yaml"
};

static const struct web_file page_files[] = {
    {"/", "text/html; charset=utf-8", index_html, sizeof index_html},
    {"/assets/camera.html", "text/html; charset=utf-8", camera_html, sizeof camera_html},
    {"/assets/link.html", "text/html; charset=utf-8", link_html, sizeof link_html},
    {"/assets/automations.css", "text/css; charset=utf-8", automations_css, sizeof automations_css},
    {"/assets/camera.css", "text/css; charset=utf-8", camera_css, sizeof camera_css},
    {"/assets/home.css", "text/css; charset=utf-8", home_css, sizeof home_css},
    {"/assets/style.css", "text/css; charset=utf-8", style_css, sizeof style_css},
    {"/assets/views.css", "text/css; charset=utf-8", views_css, sizeof views_css},
    {"/assets/icon.svg", "image/svg+xml", icon_svg, sizeof icon_svg},
    {"/assets/badge-96.png", "image/png", badge_96_png, sizeof badge_96_png},
    {"/assets/icon-192.png", "image/png", icon_192_png, sizeof icon_192_png},
    {"/assets/icon-512.png", "image/png", icon_512_png, sizeof icon_512_png},
    {"/assets/icon-maskable-512.png", "image/png", icon_maskable_512_png, sizeof icon_maskable_512_png},
    {"/assets/app.webmanifest", "application/manifest+json", app_webmanifest, sizeof app_webmanifest},
    {"/assets/app.js", "text/javascript; charset=utf-8", app_js, sizeof app_js},
    {"/assets/accepted.js", "text/javascript; charset=utf-8", accepted_js, sizeof accepted_js},
    {"/assets/access.js", "text/javascript; charset=utf-8", access_js, sizeof access_js},
    {"/assets/address.js", "text/javascript; charset=utf-8", address_js, sizeof address_js},
    {"/assets/api.js", "text/javascript; charset=utf-8", api_js, sizeof api_js},
    {"/assets/ask.js", "text/javascript; charset=utf-8", ask_js, sizeof ask_js},
    {"/assets/automation-api.js", "text/javascript; charset=utf-8", automation_api_js, sizeof automation_api_js},
    {"/assets/automation-buttons.js", "text/javascript; charset=utf-8", automation_buttons_js,
     sizeof automation_buttons_js},
    {"/assets/automation-details.js", "text/javascript; charset=utf-8", automation_details_js,
     sizeof automation_details_js},
    {"/assets/automation-editor.js", "text/javascript; charset=utf-8", automation_editor_js,
     sizeof automation_editor_js},
    {"/assets/automation-list.js", "text/javascript; charset=utf-8", automation_list_js, sizeof automation_list_js},
    {"/assets/automation-store.js", "text/javascript; charset=utf-8", automation_store_js, sizeof automation_store_js},
    {"/assets/automation-words.js", "text/javascript; charset=utf-8", automation_words_js, sizeof automation_words_js},
    {"/assets/browser-media.js", "text/javascript; charset=utf-8", browser_media_js, sizeof browser_media_js},
    {"/assets/camera-addresses.js", "text/javascript; charset=utf-8", camera_addresses_js, sizeof camera_addresses_js},
    {"/assets/camera-connection.js", "text/javascript; charset=utf-8", camera_connection_js,
     sizeof camera_connection_js},
    {"/assets/camera-controls.js", "text/javascript; charset=utf-8", camera_controls_js, sizeof camera_controls_js},
    {"/assets/camera-dialog.js", "text/javascript; charset=utf-8", camera_dialog_js, sizeof camera_dialog_js},
    {"/assets/camera-edit.js", "text/javascript; charset=utf-8", camera_edit_js, sizeof camera_edit_js},
    {"/assets/camera-fields.js", "text/javascript; charset=utf-8", camera_fields_js, sizeof camera_fields_js},
    {"/assets/camera-lines.js", "text/javascript; charset=utf-8", camera_lines_js, sizeof camera_lines_js},
    {"/assets/camera-model.js", "text/javascript; charset=utf-8", camera_model_js, sizeof camera_model_js},
    {"/assets/camera-page.js", "text/javascript; charset=utf-8", camera_page_js, sizeof camera_page_js},
    {"/assets/camera-probe.js", "text/javascript; charset=utf-8", camera_probe_js, sizeof camera_probe_js},
    {"/assets/camera-settings.js", "text/javascript; charset=utf-8", camera_settings_js, sizeof camera_settings_js},
    {"/assets/camera-source.js", "text/javascript; charset=utf-8", camera_source_js, sizeof camera_source_js},
    {"/assets/camera-tools.js", "text/javascript; charset=utf-8", camera_tools_js, sizeof camera_tools_js},
    {"/assets/camera-view.js", "text/javascript; charset=utf-8", camera_view_js, sizeof camera_view_js},
    {"/assets/candidates.js", "text/javascript; charset=utf-8", candidates_js, sizeof candidates_js},
    {"/assets/chime.js", "text/javascript; charset=utf-8", chime_js, sizeof chime_js},
    {"/assets/climate-controls.js", "text/javascript; charset=utf-8", climate_controls_js, sizeof climate_controls_js},
    {"/assets/colors.js", "text/javascript; charset=utf-8", colors_js, sizeof colors_js},
    {"/assets/condition-rows.js", "text/javascript; charset=utf-8", condition_rows_js, sizeof condition_rows_js},
    {"/assets/config-lines.js", "text/javascript; charset=utf-8", config_lines_js, sizeof config_lines_js},
    {"/assets/configuration.js", "text/javascript; charset=utf-8", configuration_js, sizeof configuration_js},
    {"/assets/connection.js", "text/javascript; charset=utf-8", connection_js, sizeof connection_js},
    {"/assets/control-fields.js", "text/javascript; charset=utf-8", control_fields_js, sizeof control_fields_js},
    {"/assets/controls.js", "text/javascript; charset=utf-8", controls_js, sizeof controls_js},
    {"/assets/device-dialog.js", "text/javascript; charset=utf-8", device_dialog_js, sizeof device_dialog_js},
    {"/assets/dialog.js", "text/javascript; charset=utf-8", dialog_js, sizeof dialog_js},
    {"/assets/doctor-dialog.js", "text/javascript; charset=utf-8", doctor_dialog_js, sizeof doctor_dialog_js},
    {"/assets/dom.js", "text/javascript; charset=utf-8", dom_js, sizeof dom_js},
    {"/assets/doorbell.js", "text/javascript; charset=utf-8", doorbell_js, sizeof doorbell_js},
    {"/assets/editor-controls.js", "text/javascript; charset=utf-8", editor_controls_js, sizeof editor_controls_js},
    {"/assets/event-stream.js", "text/javascript; charset=utf-8", event_stream_js, sizeof event_stream_js},
    {"/assets/events.js", "text/javascript; charset=utf-8", events_js, sizeof events_js},
    {"/assets/file-cameras.js", "text/javascript; charset=utf-8", file_cameras_js, sizeof file_cameras_js},
    {"/assets/findings.js", "text/javascript; charset=utf-8", findings_js, sizeof findings_js},
    {"/assets/footage-player.js", "text/javascript; charset=utf-8", footage_player_js, sizeof footage_player_js},
    {"/assets/footage.js", "text/javascript; charset=utf-8", footage_js, sizeof footage_js},
    {"/assets/gateway-clock.js", "text/javascript; charset=utf-8", gateway_clock_js, sizeof gateway_clock_js},
    {"/assets/grant-fields.js", "text/javascript; charset=utf-8", grant_fields_js, sizeof grant_fields_js},
    {"/assets/grant-rows.js", "text/javascript; charset=utf-8", grant_rows_js, sizeof grant_rows_js},
    {"/assets/graph-reading.js", "text/javascript; charset=utf-8", graph_reading_js, sizeof graph_reading_js},
    {"/assets/graph-writing.js", "text/javascript; charset=utf-8", graph_writing_js, sizeof graph_writing_js},
    {"/assets/happening.js", "text/javascript; charset=utf-8", happening_js, sizeof happening_js},
    {"/assets/history-view.js", "text/javascript; charset=utf-8", history_view_js, sizeof history_view_js},
    {"/assets/history-words.js", "text/javascript; charset=utf-8", history_words_js, sizeof history_words_js},
    {"/assets/home-reader.js", "text/javascript; charset=utf-8", home_reader_js, sizeof home_reader_js},
    {"/assets/home.js", "text/javascript; charset=utf-8", home_js, sizeof home_js},
    {"/assets/ice-restart.js", "text/javascript; charset=utf-8", ice_restart_js, sizeof ice_restart_js},
    {"/assets/identifier.js", "text/javascript; charset=utf-8", identifier_js, sizeof identifier_js},
    {"/assets/kept-focus.js", "text/javascript; charset=utf-8", kept_focus_js, sizeof kept_focus_js},
    {"/assets/kept-sound.js", "text/javascript; charset=utf-8", kept_sound_js, sizeof kept_sound_js},
    {"/assets/kinds.js", "text/javascript; charset=utf-8", kinds_js, sizeof kinds_js},
    {"/assets/late-faults.js", "text/javascript; charset=utf-8", late_faults_js, sizeof late_faults_js},
    {"/assets/leaving.js", "text/javascript; charset=utf-8", leaving_js, sizeof leaving_js},
    {"/assets/light-controls.js", "text/javascript; charset=utf-8", light_controls_js, sizeof light_controls_js},
    {"/assets/lines-card.js", "text/javascript; charset=utf-8", lines_card_js, sizeof lines_card_js},
    {"/assets/link.js", "text/javascript; charset=utf-8", link_js, sizeof link_js},
    {"/assets/live-connection.js", "text/javascript; charset=utf-8", live_connection_js, sizeof live_connection_js},
    {"/assets/live-edge.js", "text/javascript; charset=utf-8", live_edge_js, sizeof live_edge_js},
    {"/assets/live-fallback.js", "text/javascript; charset=utf-8", live_fallback_js, sizeof live_fallback_js},
    {"/assets/live-fragments.js", "text/javascript; charset=utf-8", live_fragments_js, sizeof live_fragments_js},
    {"/assets/live-lease.js", "text/javascript; charset=utf-8", live_lease_js, sizeof live_lease_js},
    {"/assets/live-paths.js", "text/javascript; charset=utf-8", live_paths_js, sizeof live_paths_js},
    {"/assets/live-session.js", "text/javascript; charset=utf-8", live_session_js, sizeof live_session_js},
    {"/assets/live-silence.js", "text/javascript; charset=utf-8", live_silence_js, sizeof live_silence_js},
    {"/assets/live-view.js", "text/javascript; charset=utf-8", live_view_js, sizeof live_view_js},
    {"/assets/live-words.js", "text/javascript; charset=utf-8", live_words_js, sizeof live_words_js},
    {"/assets/liveness.js", "text/javascript; charset=utf-8", liveness_js, sizeof liveness_js},
    {"/assets/loading.js", "text/javascript; charset=utf-8", loading_js, sizeof loading_js},
    {"/assets/media-controls.js", "text/javascript; charset=utf-8", media_controls_js, sizeof media_controls_js},
    {"/assets/media-feed.js", "text/javascript; charset=utf-8", media_feed_js, sizeof media_feed_js},
    {"/assets/media-sink.js", "text/javascript; charset=utf-8", media_sink_js, sizeof media_sink_js},
    {"/assets/missing-fields.js", "text/javascript; charset=utf-8", missing_fields_js, sizeof missing_fields_js},
    {"/assets/moments.js", "text/javascript; charset=utf-8", moments_js, sizeof moments_js},
    {"/assets/mp4-boxes.js", "text/javascript; charset=utf-8", mp4_boxes_js, sizeof mp4_boxes_js},
    {"/assets/network-change.js", "text/javascript; charset=utf-8", network_change_js, sizeof network_change_js},
    {"/assets/newest.js", "text/javascript; charset=utf-8", newest_js, sizeof newest_js},
    {"/assets/notice.js", "text/javascript; charset=utf-8", notice_js, sizeof notice_js},
    {"/assets/one-at-a-time.js", "text/javascript; charset=utf-8", one_at_a_time_js, sizeof one_at_a_time_js},
    {"/assets/one-sound.js", "text/javascript; charset=utf-8", one_sound_js, sizeof one_sound_js},
    {"/assets/opening-controls.js", "text/javascript; charset=utf-8", opening_controls_js, sizeof opening_controls_js},
    {"/assets/optimism.js", "text/javascript; charset=utf-8", optimism_js, sizeof optimism_js},
    {"/assets/panels.js", "text/javascript; charset=utf-8", panels_js, sizeof panels_js},
    {"/assets/part-controls.js", "text/javascript; charset=utf-8", part_controls_js, sizeof part_controls_js},
    {"/assets/path-loss.js", "text/javascript; charset=utf-8", path_loss_js, sizeof path_loss_js},
    {"/assets/path-report.js", "text/javascript; charset=utf-8", path_report_js, sizeof path_report_js},
    {"/assets/picture-feed.js", "text/javascript; charset=utf-8", picture_feed_js, sizeof picture_feed_js},
    {"/assets/picture-file.js", "text/javascript; charset=utf-8", picture_file_js, sizeof picture_file_js},
    {"/assets/picture-series.js", "text/javascript; charset=utf-8", picture_series_js, sizeof picture_series_js},
    {"/assets/picture-watch.js", "text/javascript; charset=utf-8", picture_watch_js, sizeof picture_watch_js},
    {"/assets/places-dialog.js", "text/javascript; charset=utf-8", places_dialog_js, sizeof places_dialog_js},
    {"/assets/places.js", "text/javascript; charset=utf-8", places_js, sizeof places_js},
    {"/assets/presses.js", "text/javascript; charset=utf-8", presses_js, sizeof presses_js},
    {"/assets/preview.js", "text/javascript; charset=utf-8", preview_js, sizeof preview_js},
    {"/assets/push-dialog.js", "text/javascript; charset=utf-8", push_dialog_js, sizeof push_dialog_js},
    {"/assets/push.js", "text/javascript; charset=utf-8", push_js, sizeof push_js},
    {"/assets/quality.js", "text/javascript; charset=utf-8", quality_js, sizeof quality_js},
    {"/assets/readings.js", "text/javascript; charset=utf-8", readings_js, sizeof readings_js},
    {"/assets/reception.js", "text/javascript; charset=utf-8", reception_js, sizeof reception_js},
    {"/assets/recording-actions.js", "text/javascript; charset=utf-8", recording_actions_js, sizeof recording_actions_js},
    {"/assets/recordings-api.js", "text/javascript; charset=utf-8", recordings_api_js, sizeof recordings_api_js},
    {"/assets/recordings.js", "text/javascript; charset=utf-8", recordings_js, sizeof recordings_js},
    {"/assets/rights.js", "text/javascript; charset=utf-8", rights_js, sizeof rights_js},
    {"/assets/run-drawing.js", "text/javascript; charset=utf-8", run_drawing_js, sizeof run_drawing_js},
    {"/assets/run-path.js", "text/javascript; charset=utf-8", run_path_js, sizeof run_path_js},
    {"/service-worker.js", "text/javascript; charset=utf-8", service_worker_js, sizeof service_worker_js},
    {"/assets/settings-dialog.js", "text/javascript; charset=utf-8", settings_dialog_js, sizeof settings_dialog_js},
    {"/assets/settings-fields.js", "text/javascript; charset=utf-8", settings_fields_js, sizeof settings_fields_js},
    {"/assets/settings-forms.js", "text/javascript; charset=utf-8", settings_forms_js, sizeof settings_forms_js},
    {"/assets/share-dialog.js", "text/javascript; charset=utf-8", share_dialog_js, sizeof share_dialog_js},
    {"/assets/share-link.js", "text/javascript; charset=utf-8", share_link_js, sizeof share_link_js},
    {"/assets/shortcut-dialog.js", "text/javascript; charset=utf-8", shortcut_dialog_js, sizeof shortcut_dialog_js},
    {"/assets/shortcuts.js", "text/javascript; charset=utf-8", shortcuts_js, sizeof shortcuts_js},
    {"/assets/sign-in.js", "text/javascript; charset=utf-8", sign_in_js, sizeof sign_in_js},
    {"/assets/snapshots.js", "text/javascript; charset=utf-8", snapshots_js, sizeof snapshots_js},
    {"/assets/start-report.js", "text/javascript; charset=utf-8", start_report_js, sizeof start_report_js},
    {"/assets/starter-rows.js", "text/javascript; charset=utf-8", starter_rows_js, sizeof starter_rows_js},
    {"/assets/status.js", "text/javascript; charset=utf-8", status_js, sizeof status_js},
    {"/assets/step-rows.js", "text/javascript; charset=utf-8", step_rows_js, sizeof step_rows_js},
    {"/assets/talk.js", "text/javascript; charset=utf-8", talk_js, sizeof talk_js},
    {"/assets/text-de.js", "text/javascript; charset=utf-8", text_de_js, sizeof text_de_js},
    {"/assets/text-en.js", "text/javascript; charset=utf-8", text_en_js, sizeof text_en_js},
    {"/assets/text.js", "text/javascript; charset=utf-8", text_js, sizeof text_js},
    {"/assets/tile.js", "text/javascript; charset=utf-8", tile_js, sizeof tile_js},
    {"/assets/timeline-bar.js", "text/javascript; charset=utf-8", timeline_bar_js, sizeof timeline_bar_js},
    {"/assets/timeline.js", "text/javascript; charset=utf-8", timeline_js, sizeof timeline_js},
    {"/assets/token.js", "text/javascript; charset=utf-8", token_js, sizeof token_js},
    {"/assets/trickle.js", "text/javascript; charset=utf-8", trickle_js, sizeof trickle_js},
    {"/assets/value-fields.js", "text/javascript; charset=utf-8", value_fields_js, sizeof value_fields_js},
    {"/assets/view-frame.js", "text/javascript; charset=utf-8", view_frame_js, sizeof view_frame_js},
    {"/assets/view-trial.js", "text/javascript; charset=utf-8", view_trial_js, sizeof view_trial_js},
    {"/assets/views.js", "text/javascript; charset=utf-8", views_js, sizeof views_js},
    {"/assets/visitors.js", "text/javascript; charset=utf-8", visitors_js, sizeof visitors_js},
    {"/assets/wake-lock.js", "text/javascript; charset=utf-8", wake_lock_js, sizeof wake_lock_js},
    {"/assets/wall-cell.js", "text/javascript; charset=utf-8", wall_cell_js, sizeof wall_cell_js},
    {"/assets/wall-layout.js", "text/javascript; charset=utf-8", wall_layout_js, sizeof wall_layout_js},
    {"/assets/wall.js", "text/javascript; charset=utf-8", wall_js, sizeof wall_js},
    {"/assets/webm.js", "text/javascript; charset=utf-8", webm_js, sizeof webm_js},
    {"/assets/wiring.js", "text/javascript; charset=utf-8", wiring_js, sizeof wiring_js},
    {"/assets/words.js", "text/javascript; charset=utf-8", words_js, sizeof words_js},
    {"/assets/zoom-gestures.js", "text/javascript; charset=utf-8", zoom_gestures_js, sizeof zoom_gestures_js},
    {"/assets/zoom.js", "text/javascript; charset=utf-8", zoom_js, sizeof zoom_js},
};

const struct web_file *web_page_files(size_t *count) {
    *count = sizeof page_files / sizeof page_files[0];
    return page_files;
}

struct web_file openapi_document(void) {
    return (struct web_file){"/v1/openapi.json", "application/yaml", openapi_yaml, sizeof openapi_yaml};
}
